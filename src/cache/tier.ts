import type { Versioned } from "./cache.ts";
import type { Change } from "./feed.ts";

/**
 * The shared tier between memory and SQL: fast, but never trusted blindly. It may be unavailable, slow, empty, restored
 * to older data, or contain what a slow writer read from SQL before a change.
 *
 * For a key it holds a value (or that there is none), or a fence: "version 7 exists; ask SQL for its value". A fence
 * outlives every writer that could still write an older version.
 */
export type Shared<Value> =
  | {
      readonly kind: "value";
      readonly answer: Versioned<Value>;
      /** Remaining share of its lifetime: 1 when written; at 0 and below it is used only when SQL fails. */
      readonly left: number;
    }
  | { readonly kind: "fence"; readonly version: number }
  | { readonly kind: "unknown" };

export interface Tier<Value> {
  /** Whether its value for this key may be trusted: it was just corrected up to what this instance knows. */
  trusts(key: string): boolean;
  /** Throws when the tier does not answer. */
  get(key: string): Promise<Shared<Value>>;
  /**
   * Permission to write what SQL is about to answer; taken before SQL is asked. `undefined`: nothing may be written
   * now.
   */
  ticket(key: string): Ticket | undefined;
  /** Writes, unless something newer is there or the ticket has expired. Not awaited. */
  put(key: string, answer: Versioned<Value>, ticket: Ticket): void;
}

/** The values of one kind, in a tier that has several. Anything else under its keys counts as unknown. */
export const partOf = <All, Part extends All>(tier: Tier<All>, isPart: (value: All) => value is Part): Tier<Part> => ({
  ...tier,
  async get(key): Promise<Shared<Part>> {
    const shared = await tier.get(key);
    if (shared.kind !== "value") return shared;
    const { version, value } = shared.answer;
    const part = value !== undefined && isPart(value) ? value : undefined;
    if (part !== value) return { kind: "unknown" };
    return { kind: "value", answer: { version, value: part }, left: shared.left };
  },
});

/** Valid until a time by the tier's clock, and in one epoch: a delayed writer must not write later. */
export interface Ticket {
  readonly until: number;
  readonly epoch: string;
}

/**
 * How a value is serialized, under its name in the keys. It is stored in its own field; the tier's version and times
 * are outside, so a format may name its fields freely.
 */
export interface Form<Value> {
  readonly name: string;
  /** The keys that a change is about. */
  readonly keysOf: (change: Change) => readonly string[];
  readonly toJson: (value: Value) => unknown;
  /** Throws on anything unknown. */
  readonly fromJson: (json: unknown) => Value;
}
