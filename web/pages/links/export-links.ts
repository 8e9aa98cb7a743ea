import { linkCsv, linksCsvTitle } from "../../../src/links/read/links-csv.ts";
import { ApiError, send } from "../../api/call.ts";
import type { Link } from "../../api/generated.ts";
import { saveFile } from "../../save-file.ts";
import { type ListAddress, listParams } from "./list-address.ts";

/** Links as a CSV file: of a selection, made here, or of all that match, in one download. */
export const saveLinks = (links: readonly Link[]): void =>
  save(new Blob([linksCsvTitle(), ...links.map(linkCsv)], { type: "text/csv" }));

export async function saveMatching(address: ListAddress): Promise<void> {
  const { limit: _, cursor: __, ...query } = listParams(address);
  const response = await send("GET /api/links/export", { query });
  const table = await response.blob().catch(() => {
    // Cut off on its way: a part of it is not saved.
    throw new ApiError(undefined);
  });
  save(table);
}

/** With a mark by which Excel knows the encoding. */
const save = (table: Blob): void => saveFile("links.csv", new Blob(["\uFEFF", table], { type: "text/csv" }));
