/** Who changes things in tests. */
import type { KeyId } from "../../src/base/ids.ts";
import type { Actor } from "../../src/history/history.ts";

export { byCommand } from "../../src/history/history.ts";

export const byKey = { kind: "key", id: `key_${"7".repeat(26)}` as KeyId, name: "a key" } as const satisfies Actor;
