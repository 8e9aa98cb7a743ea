import { hitReasons } from "../redirect/decide.ts";
import { type FactColumn, factColumns, type LinkNumber, type TenantNumber } from "../sql/schema.ts";

/** What is known about a click. Every fact is a short text; empty means "none" or unknown. */
export const dimensions = factColumns;
export type Dimension = FactColumn;
/**
 * What clicks are broken down by: every fact, and the link in a report on several links. A link is counted by its number, as
 * text: an event has nothing else, and a link may be gone when a report is read.
 */
export type BreakdownName = Dimension | "link";
export const breakdownNames: readonly BreakdownName[] = ["link", ...dimensions];
export type ClickFacts = Readonly<Record<Dimension, string>>;

/** Stands for values that were not kept apart, because there were too many. No fact has this text. */
export const other = "…";
export const none = "";

/** Clicks that a person made and that count; everything else, such as bots and previews, is shown apart. */
export const isPerson = (reason: number): boolean => reason === counted;
const counted = hitReasons.indexOf("counted");

/** `first` of an event: bits, or `tooLate`. */
export const firstToLink = 1;
export const firstToTenant = 2;
export const tooLate = 4;

export const quarterMs = 900_000;
export const quarterOf = (at: number): number => at - (at % quarterMs);
export const utcDay = (at: number): number => Math.floor(at / 86_400_000);

/** The link that was clicked, as it was at that moment. */
export interface ClickedLink {
  readonly link: LinkNumber;
  readonly tenant: TenantNumber;
  /** Empty: the server's own domain. */
  readonly domain: string;
  readonly code: string;
  readonly tags: readonly string[];
}

/**
 * Clicks on their way to the database, in columns: cheap to send to another thread. A text occurs once in `texts`, a link
 * once in `links`; the columns have their places.
 */
export interface ClickBatch {
  /** The first is empty. */
  readonly texts: readonly string[];
  readonly links: readonly ClickedLink[];
  readonly at: Float64Array;
  readonly link: Uint16Array;
  readonly reason: Uint8Array;
  /** A keyed hash of address and User-Agent, below 2^53; 0 if the visitor may not be recognised. */
  readonly visitor: Float64Array;
  /** One after the other: the facts of the first click in the order of `dimensions`, then those of the second. */
  readonly facts: Uint16Array;
  /** Clicks without facts, because there were too many: counts by reason. */
  readonly bare: readonly BareClicks[];
  /** Clicks that could not even be counted. */
  readonly dropped: number;
  /** Visits of people who excluded themselves: nothing else is known about them. */
  readonly excluded: number;
}

export interface BareClicks {
  /** Place in `links`. */
  readonly link: number;
  readonly quarter: number;
  readonly reasons: readonly number[];
}
