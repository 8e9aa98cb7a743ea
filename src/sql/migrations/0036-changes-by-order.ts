import type { Types } from "../migrate.ts";

/** Each index of `changes` is one more to write for each imported link, so there is one: the order in which changes are read and deleted. */
export const changesByOrder = (t: Types): string[] => ["drop index changes_by_time", ...t.changesByOrder];
