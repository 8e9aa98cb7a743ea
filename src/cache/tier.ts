import type { Versioned } from "./cache.ts";

/**
 * The shared tier between memory and SQL: fast, and never to be believed blindly. It may be away, slow, empty, older
 * than it was, or hold what somebody wrote who read SQL before a change and was slow to say so.
 *
 * What it holds for a key is a value (or that there is none), or a fence: "there is version 7; what it says, ask SQL". A
 * fence outlives every writer that could still bring an older version.
 */
export type Shared<Value> =
  | {
      readonly kind: "value";
      readonly answer: Versioned<Value>;
      /** Of its time: 1 when it was written; at 0 and below it is only good in need. */
      readonly left: number;
    }
  | { readonly kind: "fence"; readonly version: number }
  | { readonly kind: "unknown" };

export interface Tier<Value> {
  /** Whether what it holds for this key may be believed: it was corrected, just now, up to what this instance knows of. */
  trusts(key: string): boolean;
  /** Throws when it does not answer. */
  get(key: string): Promise<Shared<Value>>;
  /** Leave to write what SQL is about to say, asked for before SQL is. Nothing: it may not be written at all now. */
  ticket(key: string): Ticket | undefined;
  /** Writes unless something newer is there, or it has become too late. Nobody waits for it. */
  put(key: string, answer: Versioned<Value>, ticket: Ticket): void;
}

/** Until when, by the tier's own clock, and into which of its epochs: a writer that was held up must not write later. */
export interface Ticket {
  readonly until: number;
  readonly epoch: string;
}

/**
 * How a value is written, under its name in the keys. It is stored in a field to itself: what the tier adds (version,
 * times) is around it, so a form may name its fields as it likes.
 */
export interface Form<Value> {
  readonly name: string;
  readonly toJson: (value: Value) => unknown;
  /** Throws at what it does not know. */
  readonly fromJson: (json: unknown) => Value;
}
