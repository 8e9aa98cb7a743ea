import { invalid } from "../base/errors.ts";
import type { TenantId } from "../base/ids.ts";
import type { Signer } from "../base/signature.ts";
import { z } from "./route.ts";

/**
 * Every list of the API comes in pages, and this is how. A route takes `limit` and `cursor` (`pageParams`), answers with
 * `items` and `nextCursor` (`pageSchema`), and asks its store for a page through `Pages.page`.
 *
 * A cursor holds the last item's place in the order, so items that come and go meanwhile make no other one appear twice or
 * not at all; and a signature, so that what comes back is what was given, to this tenant and for this list.
 */
export interface Pages {
  page<Item, Place extends readonly (string | number)[]>(
    list: ListName,
    asked: { readonly limit: number; readonly cursor?: string | undefined },
    /** At most `limit` items after that place, in the list's order. */
    find: (limit: number, after: Place | undefined) => Promise<readonly Item[]>,
    placeOf: (item: Item) => Place,
  ): Promise<Page<Item>>;
}

export interface ListName {
  readonly tenant: TenantId;
  /** Which list, in which order: a cursor is good for this one only. */
  readonly name: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

const pageMost = 100;
const cursorMost = 1_000;

/** Of a query. */
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

  /** What is signed is what we wrote, for this list: so it has the form of this list's places. */
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
  };
}

const badCursor = () =>
  invalid(
    "cursor",
    "bad_cursor",
    "Not a cursor of this list. Use `nextCursor` of the previous page with the same order, or omit it to start at the beginning.",
  );
