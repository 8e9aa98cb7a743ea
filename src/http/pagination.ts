import { invalid } from "../base/errors.ts";
import type { TenantId } from "../base/ids.ts";
import type { Signer } from "../base/signature.ts";
import { z } from "./route.ts";

/**
 * Pagination of every API list. A route takes `limit` and `cursor` (`pageParams`), answers with `items` and
 * `nextCursor` (`pageSchema`), and reads a page through `Pages.page`.
 *
 * A cursor contains the last item's position in the order, so items created or deleted meanwhile do not repeat or hide
 * others; and a signature, so that only cursors issued to this tenant for this list are accepted.
 */
export interface Pages {
  page<Item, Place extends readonly (string | number)[]>(
    list: ListName,
    asked: { readonly limit: number; readonly cursor?: string | undefined },
    /** At most `limit` items after that position, in the list's order. */
    find: (limit: number, after: Place | undefined) => Promise<readonly Item[]>,
    placeOf: (item: Item) => Place,
  ): Promise<Page<Item>>;
  /** The same for a list whose pages may end early: it says itself where the next one begins. */
  pageWithPlace<Place extends readonly (string | number)[], Found extends { readonly next: Place | null }>(
    list: ListName,
    cursor: string | undefined,
    find: (after: Place | undefined) => Promise<Found>,
  ): Promise<Omit<Found, "next"> & { readonly nextCursor: string | null }>;
}

export interface ListName {
  readonly tenant: TenantId;
  /** Name and order of the list: a cursor is valid for this list only. */
  readonly name: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

const pageMost = 100;
const cursorMost = 1_000;

/** Query parameters. */
export const pageParams = {
  limit: z.coerce.number().int().min(1).max(pageMost).default(50),
  cursor: z.string().max(cursorMost).optional().openapi({ description: "The `nextCursor` of the previous page." }),
};

export const pageSchema = <Item extends z.ZodType>(item: Item, name: string) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() }).openapi(name);

export function createPages(signer: Signer): Pages {
  const placed = ({ tenant, name }: ListName, text: string): string => `${tenant} ${name} ${text}`;

  function write(list: ListName, place: readonly (string | number)[]): string {
    const text = Buffer.from(JSON.stringify(place)).toString("base64url");
    return `${text}.${signer.sign(placed(list, text))}`;
  }

  /** The signature covers the list, so the text has the format of this list's positions. */
  function read<Place>(list: ListName, cursor: string): Place {
    const [text = "", signature = ""] = cursor.split(".");
    if (!signer.isSigned(placed(list, text), signature)) throw badCursor();
    return JSON.parse(Buffer.from(text, "base64url").toString()) as Place;
  }

  return {
    async page(list, { limit, cursor }, find, placeOf) {
      const found = await find(limit + 1, cursor === undefined ? undefined : read(list, cursor));
      const items = found.slice(0, limit);
      const last = found.length > limit ? items.at(-1) : undefined;
      return { items, nextCursor: last === undefined ? null : write(list, placeOf(last)) };
    },

    async pageWithPlace(list, cursor, find) {
      const { next, ...found } = await find(cursor === undefined ? undefined : read(list, cursor));
      return { ...found, nextCursor: next === null ? null : write(list, next) };
    },
  };
}

const badCursor = () =>
  invalid(
    "cursor",
    "bad_cursor",
    "Not a cursor of this list. Use `nextCursor` of the previous page with the same order, or omit it to start at the beginning.",
  );
