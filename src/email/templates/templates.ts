import type { MailKind } from "../outbox/outbox.ts";
import { type Letter, type Rendered, render } from "./letter.ts";
import { type QuotaFacts, quota } from "./quota.ts";
import { type ShareFacts, share } from "./share.ts";

/** Every email by its kind: a file beside this one that builds a letter from facts, and a line in both lists. */
interface Facts extends Partial<Record<MailKind, object>> {
  readonly quota: QuotaFacts;
  readonly share: ShareFacts;
}

export type Written = "quota" | "share";

const templates: { readonly [Kind in Written]: (facts: Facts[Kind]) => Letter } = { quota, share };

/** `stopUrl`: the unsubscribe link, if offered. */
export function writeMail<Kind extends Written>(kind: Kind, facts: Facts[Kind], stopUrl: string | null): Rendered {
  return render(templates[kind](facts), stopUrl);
}
