/** What the rules of links are built on, in SQL. */
import { createLinkPast } from "../../src/links/past/link-history.ts";
import { createLinkStore } from "../../src/links/store.ts";
import { createTrashStore } from "../../src/links/trash/trash-store.ts";
import type { Sql } from "../../src/sql/sql.ts";

export const linkStores = (sql: Sql) => ({
  store: createLinkStore(sql),
  trash: createTrashStore(sql),
  past: createLinkPast(sql),
});
