import { useState } from "react";
import { linksTexts as t } from "../../texts/links.ts";
import type { Sort } from "./list-address.ts";

/** The columns of the table. Which of them are shown is remembered in this browser. */
export const columnNames = [
  ...(["shortLink", "title", "destination", "tags", "trend", "clicks", "lastClick", "quota"] as const),
  ...(["created", "changed", "expires", "status"] as const),
] as const;
export type ColumnName = (typeof columnNames)[number];

interface ColumnLook {
  readonly label: string;
  /** Undefined shares what is left. */
  readonly width?: number;
  readonly align?: "end";
  readonly sort?: Sort;
}

export const columnLooks: Readonly<Record<ColumnName, ColumnLook>> = {
  shortLink: { label: t.shortLink, width: 256, sort: "code" },
  title: { label: t.linkTitle },
  destination: { label: t.destination },
  tags: { label: t.tags, width: 118 },
  trend: { label: t.trend, width: 98 },
  clicks: { label: t.clicks, width: 78, align: "end", sort: "clicks" },
  lastClick: { label: t.lastClick, width: 96, align: "end", sort: "lastClickAt" },
  quota: { label: t.quota, width: 120, align: "end" },
  created: { label: t.created, width: 122, align: "end", sort: "createdAt" },
  changed: { label: t.changed, width: 122, align: "end", sort: "updatedAt" },
  expires: { label: t.expires, width: 122, align: "end", sort: "expiresAt" },
  status: { label: t.status, width: 136 },
};

const usual: readonly ColumnName[] = ["shortLink", "destination", "tags", "trend", "clicks", "lastClick", "status"];
const storedName = "quicklink-link-columns";

function readColumns(): readonly ColumnName[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storedName) ?? "null");
    if (!Array.isArray(stored)) return usual;
    const known = columnNames.filter((name) => stored.includes(name));
    return known.includes("shortLink") ? known : usual;
  } catch {
    return usual;
  }
}

export function useColumns() {
  const [shown, setShown] = useState(readColumns);
  const show = (name: ColumnName, isShown: boolean) => {
    const next = columnNames.filter((one) => (one === name ? isShown : shown.includes(one)));
    setShown(next);
    try {
      localStorage.setItem(storedName, JSON.stringify(next));
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  };
  return { shown, show };
}
