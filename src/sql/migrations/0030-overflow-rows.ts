import type { Types } from "../migrate.ts";

/** Rows of overflow are replaced every second. On SQLite they were too long for a table without row ids (`migrate.ts`). */
export const overflowRows = (t: Types): string[] => [...t.overflowRows];
