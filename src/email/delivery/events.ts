import type { Delivery } from "../../sql/schema.ts";
import type { SuppressionReason } from "./suppressions.ts";

/**
 * SendGrid's delivery events, in our terms. Only these matter of all that it sends. The recipient is never taken from
 * the event, but from the row that its message ID leads to.
 */
export interface DeliveryEvent {
  /** IDs the row may be known by. */
  readonly providerIds: readonly string[];
  readonly delivery: Delivery | null;
  /** Why its recipient must get no more email. */
  readonly suppress: SuppressionReason | null;
  readonly at: number | null;
  readonly detail: string | null;
}

/** A complaint outweighs a bounce, which outweighs a delivery: the result does not depend on the order of events. */
const weights: Readonly<Record<Delivery, number>> = { delivered: 1, bounced: 2, complaint: 3 };

export const outweighs = (delivery: Delivery, known: Delivery | null): boolean =>
  known === null || weights[delivery] > weights[known];

/** `undefined` if it says nothing about delivery, or cannot be understood. */
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

/** On one line, and storable in both databases: PostgreSQL has no NUL. */
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
      // A blocked email was rejected this time, but the address exists.
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

/** SendGrid did not try, because the address is on its own list. */
function droppedFor(reason: string): SuppressionReason | null {
  if (/spam report/i.test(reason)) return "complaint";
  if (/unsubscribed/i.test(reason)) return "unsubscribed";
  return /^(?:bounced address|invalid)$/i.test(reason) ? "bounced" : null;
}

/**
 * The response to our call said `abc`; events say `abc.filter0001.16648.5515E0B88.0`, and the first part may contain
 * dots.
 */
function providerIdsOf(id: string): string[] {
  const [short = id, long = id] = [id.split(".")[0], id.split(/\.(?:filter|recvd)/)[0]];
  return [...new Set([short, long])].filter((one) => one !== "");
}
