import type { Types } from "../migrate.ts";

/** A report looks up some dozen roll-ups. On SQLite they were too long for a table without row ids (`migrate.ts`). */
export const rollupRows = (t: Types): string[] => [...t.rollupRows];
