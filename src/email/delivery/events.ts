import type { Delivery } from "../../sql/schema.ts";
import type { SuppressionReason } from "./suppressions.ts";

/**
 * What SendGrid says has become of an email, in our words. Of all that it sends only this matters here; whom it is about
 * is never taken from the event, but from the row that its message id leads to.
 */
export interface DeliveryEvent {
  /** What the row may be known by. */
  readonly providerIds: readonly string[];
  readonly delivery: Delivery | null;
  /** Why its recipient is to get no more. */
  readonly suppress: SuppressionReason | null;
  readonly at: number | null;
  readonly detail: string | null;
}

/** A complaint weighs more than a bounce, and that more than a delivery: in whatever order they come, it ends the same. */
const weights: Readonly<Record<Delivery, number>> = { delivered: 1, bounced: 2, complaint: 3 };

export const outweighs = (delivery: Delivery, known: Delivery | null): boolean =>
  known === null || weights[delivery] > weights[known];

/** Nothing if it tells nothing about delivery, or cannot be understood. */
export function readEvent(event: unknown): DeliveryEvent | undefined {
  if (typeof event !== "object" || event === null) return undefined;
  const { sg_message_id: id, event: name, type, reason, timestamp } = event as Readonly<Record<string, unknown>>;
  if (typeof id !== "string" || id.length > idMaxChars || /\p{Cc}/u.test(id)) return undefined;
  const said = typeof reason === "string" ? reason : "";
  const fate = fateOf(name, type, said);
  if (fate === undefined) return undefined;
  return {
    ...fate,
    providerIds: providerIdsOf(id),
    at: typeof timestamp === "number" && Number.isSafeInteger(timestamp) ? timestamp * 1_000 : null,
    detail: said === "" ? null : detailOf(said),
  };
}

const idMaxChars = 300;
const detailMaxChars = 500;

/** On one line, and as both databases can keep it: PostgreSQL has no NUL. */
const detailOf = (said: string): string =>
  said
    .slice(0, detailMaxChars)
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ");

function fateOf(
  name: unknown,
  type: unknown,
  reason: string,
): Pick<DeliveryEvent, "delivery" | "suppress"> | undefined {
  switch (name) {
    case "delivered":
      return { delivery: "delivered", suppress: null };
    case "bounce":
      // One that is blocked was turned away this time; the address is there.
      return { delivery: "bounced", suppress: type === "blocked" ? null : "bounced" };
    case "dropped":
      return { delivery: "bounced", suppress: droppedFor(reason) };
    case "spamreport":
      return { delivery: "complaint", suppress: "complaint" };
    case "unsubscribe":
    case "group_unsubscribe":
      return { delivery: null, suppress: "unsubscribed" };
    default:
      return undefined;
  }
}

/** SendGrid did not even try, for it has a list of its own. */
function droppedFor(reason: string): SuppressionReason | null {
  if (/spam report/i.test(reason)) return "complaint";
  if (/unsubscribed/i.test(reason)) return "unsubscribed";
  return /^(?:bounced address|invalid)$/i.test(reason) ? "bounced" : null;
}

/** The answer to our call said `abc`; events say `abc.filter0001.16648.5515E0B88.0`, and the first part may have dots. */
function providerIdsOf(id: string): string[] {
  const [short = id, long = id] = [id.split(".")[0], id.split(/\.(?:filter|recvd)/)[0]];
  return [...new Set([short, long])].filter((one) => one !== "");
}
