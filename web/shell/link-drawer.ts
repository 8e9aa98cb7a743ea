import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { oneOf } from "../search.ts";

/**
 * The drawer that creates or edits a link. It stands in the address (`?drawer=new`, `?drawer=lnk_…`), so that it can be
 * linked to, opened from anywhere, and closed with the Back button.
 */
export interface LinkDrawerState {
  readonly isOpen: boolean;
  /** Undefined: a new link. */
  readonly id: string | undefined;
  /** `history`, `qr`, …: the part that was asked for. */
  readonly part: string | undefined;
  /** The link that a new one starts as a copy of. */
  readonly copyOf: string | undefined;
  /** The file that a new one starts with as its destination. */
  readonly toFile: string | undefined;
  /** `url`: the destination to start with. */
  create(url?: string): void;
  createToFile(file: string): void;
  edit(id: string, part?: string): void;
  duplicate(id: string): void;
  /** Shows another part of the same link. */
  show(part: string | undefined): void;
  close(): void;
}

export function useLinkDrawer(): LinkDrawerState {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const drawer = oneOf(search.drawer);
  const show = useCallback(
    (next: { drawer?: string; part?: string; url?: string; copy?: string; toFile?: string }, replace = false) =>
      void navigate({
        to: ".",
        replace,
        search: (before: object) => ({
          ...before,
          ...{ drawer: undefined, part: undefined, url: undefined, copy: undefined, toFile: undefined },
          ...next,
        }),
        resetScroll: false,
      }),
    [navigate],
  );
  return {
    isOpen: drawer !== undefined,
    id: drawer === "new" ? undefined : drawer,
    part: oneOf(search.part),
    copyOf: oneOf(search.copy),
    toFile: oneOf(search.toFile),
    create: (url) => show({ drawer: "new", ...(url !== undefined && { url }) }),
    createToFile: (file) => show({ drawer: "new", toFile: file }),
    edit: (id, part) => show({ drawer: id, ...(part !== undefined && { part }) }),
    duplicate: (id) => show({ drawer: "new", copy: id }),
    show: (part) =>
      void navigate({ to: ".", search: (before: object) => ({ ...before, part }), replace: true, resetScroll: false }),
    // In place of the open drawer: Back does not open it again.
    close: () => show({}, true),
  };
}
