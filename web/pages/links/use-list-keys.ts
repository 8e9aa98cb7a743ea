import { useEffect, useRef, useState } from "react";
import type { Link } from "../../api/generated.ts";
import { useShortcuts } from "../../keys.ts";
import type { Selection } from "./use-selection.ts";

/**
 * The row that keys act on, and the keys. It stays visible, and follows the focus and the pointer. Keys that move it take the focus
 * along: a screen reader reads the row, and a drawer that closes returns to it.
 */
interface ListKeys {
  readonly links: readonly Link[];
  readonly selection: Selection;
  readonly canWrite: boolean;
  open(link: Link): void;
  edit(link: Link): void;
  copy(link: Link): void;
  qr(link: Link): void;
  remove(links: readonly Link[]): void;
  focusSearch(): void;
  /** What Escape does when nothing is selected. */
  clear(): void;
}

export function useListKeys(keys: ListKeys) {
  const { links, selection, canWrite } = keys;
  const [current, setCurrent] = useState<string>();
  /** Where a range begins. */
  const anchor = useRef<string>(undefined);
  const place = links.findIndex(({ id }) => id === current);
  const link = links[place];

  useEffect(() => {
    if (current === undefined) return;
    rowOf(current)?.scrollIntoView({ block: "nearest" });
  }, [current]);

  const goTo = (next: Link | undefined) => {
    setCurrent(next?.id);
    if (next !== undefined) rowOf(next.id)?.focus({ preventScroll: true });
  };
  const move = (by: number) => {
    const next =
      links[place === -1 ? (by > 0 ? 0 : links.length - 1) : Math.max(0, Math.min(links.length - 1, place + by))];
    if (next !== undefined) goTo(next);
  };
  const onLink = (run: (link: Link) => void) => () => {
    if (link !== undefined) run(link);
  };
  const select = () => {
    if (link === undefined) return;
    selection.set(link, !selection.has(link.id));
    anchor.current = link.id;
  };
  const selectRange = () => {
    const from = links.findIndex(({ id }) => id === anchor.current);
    if (from === -1 || place === -1) return select();
    selection.setMany(links.slice(Math.min(from, place), Math.max(from, place) + 1), true);
  };
  const remove = () => {
    if (selection.size > 0 && !selection.isAll) keys.remove(selection.links);
    else if (link !== undefined && selection.size === 0) {
      goTo(links[place + 1] ?? links[place - 1]);
      keys.remove([link]);
    }
  };
  useShortcuts([
    { keys: "j", run: () => move(1) },
    { keys: "k", run: () => move(-1) },
    { keys: "arrowdown", run: () => move(1) },
    { keys: "arrowup", run: () => move(-1) },
    { keys: "/", run: keys.focusSearch },
    { keys: "c", run: onLink(keys.copy) },
    { keys: "q", run: onLink(keys.qr) },
    ...(link !== undefined && !isOnControl() ? [{ keys: "enter", run: onLink(keys.open) }] : []),
    ...(canWrite
      ? [
          { keys: "x", run: select },
          { keys: "shift+x", run: selectRange },
          { keys: "e", run: onLink(keys.edit) },
          { keys: "backspace", run: remove },
          { keys: "delete", run: remove },
        ]
      : []),
    {
      keys: "escape",
      run: () => {
        if (selection.size > 0) selection.clear();
        else if (current !== undefined) {
          setCurrent(undefined);
          rowOf(current)?.blur();
        } else keys.clear();
      },
    },
  ]);
  return { current, setCurrent };
}

const rowOf = (id: string) => document.querySelector<HTMLElement>(`[data-link="${CSS.escape(id)}"]`);

/** Enter on a button or link is its own. */
const isOnControl = (): boolean => document.activeElement?.closest("a,button,[role=button]") != null;
