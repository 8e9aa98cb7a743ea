import { invalid } from "../base/errors.ts";
import { parseId, type TenantId } from "../base/ids.ts";
import type { Signer } from "../base/signature.ts";
import type { LinkQuery, Position } from "./find.ts";

/**
 * A place in a list, as text for whoever asks for the next page. It holds the last link's place in the order, so links
 * that come and go meanwhile make no other one appear twice or not at all; and a signature, so that what comes back is
 * what was given, to this tenant and for this order.
 */
export interface Cursors {
  write(tenant: TenantId, query: LinkQuery, position: Position): string;
  read(tenant: TenantId, query: LinkQuery, text: string): Position;
}

export const cursorMost = 300;

export function createCursors(signer: Signer): Cursors {
  const placed = (tenant: TenantId, { sort, order }: LinkQuery, text: string): string =>
    `${tenant} ${sort} ${order} ${text}`;

  return {
    write(tenant, query, { value, id }) {
      const text = Buffer.from(JSON.stringify([value, id])).toString("base64url");
      return `${text}.${signer.sign(placed(tenant, query, text))}`;
    },

    read(tenant, query, cursor) {
      const [text = "", signature = ""] = cursor.split(".");
      if (!signer.isSigned(placed(tenant, query, text), signature)) throw badCursor();
      const [value, id] = JSON.parse(Buffer.from(text, "base64url").toString()) as [string | number, string];
      const known = parseId("link", id);
      if (known === undefined) throw badCursor();
      return { value, id: known };
    },
  };
}

const badCursor = () =>
  invalid(
    "cursor",
    "bad_cursor",
    "This is not a cursor for this list. Use `nextCursor` of the page before, with the same `sort` and `order`, or leave it out.",
  );
