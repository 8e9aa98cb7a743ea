import { useState } from "react";
import { stringifySearch } from "../../search.ts";
import { viewNames } from "./list-address.ts";

/** Views that people saved: a name, and the query of an address. Kept in this browser, for each workspace. */
export interface SavedView {
  readonly name: string;
  /** `?state=expired&tag=spring` */
  readonly query: string;
}

const viewsMost = 50;
const storedName = (workspace: string): string => `quicklink-link-views:${workspace}`;

function readViews(workspace: string): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storedName(workspace)) ?? "[]");
    if (!Array.isArray(stored)) return [];
    return stored.filter((one): one is SavedView => typeof one?.name === "string" && typeof one?.query === "string");
  } catch {
    return [];
  }
}

/** What of an address is a view. */
export const viewQuery = (search: Readonly<Record<string, unknown>>): string =>
  stringifySearch(Object.fromEntries(viewNames.map((name) => [name, search[name]])));

export function useViews(workspace: string) {
  const [views, setViews] = useState(() => readViews(workspace));
  const write = (next: readonly SavedView[]) => {
    setViews(next);
    try {
      localStorage.setItem(storedName(workspace), JSON.stringify(next));
    } catch {
      // Without storage a view lasts as long as the page.
    }
  };
  return {
    views,
    save: (view: SavedView) => write([...views.filter(({ name }) => name !== view.name), view].slice(-viewsMost)),
    remove: (name: string) => write(views.filter((one) => one.name !== name)),
    restore: write,
  };
}
