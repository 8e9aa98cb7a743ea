import type { MailKind } from "../outbox/outbox.ts";
import { type DigestFacts, digestLetter } from "./digest.ts";
import { type Letter, type Rendered, render } from "./letter.ts";
import { deadTargetLetter, dropLetter, firstClickLetter, type LinkNoticeFacts, spikeLetter } from "./link-notices.ts";
import { type QuotaFacts, quotaLetter } from "./quota.ts";
import { type ShareFacts, shareLetter } from "./share.ts";

/** Every email by its kind: a file beside this one that builds a letter from facts, and a line in both lists. */
interface Facts extends Partial<Record<MailKind, object>> {
  readonly quota: QuotaFacts;
  readonly share: ShareFacts;
  readonly firstClick: LinkNoticeFacts;
  readonly spike: LinkNoticeFacts;
  readonly drop: LinkNoticeFacts;
  readonly deadTarget: LinkNoticeFacts;
  readonly digest: DigestFacts;
}

export type TemplateName = "quota" | "share" | "firstClick" | "spike" | "drop" | "deadTarget" | "digest";

const templates: { readonly [Kind in TemplateName]: (facts: Facts[Kind]) => Letter } = {
  quota: quotaLetter,
  share: shareLetter,
  firstClick: firstClickLetter,
  spike: spikeLetter,
  drop: dropLetter,
  deadTarget: deadTargetLetter,
  digest: digestLetter,
};

/** `stopUrl`: the unsubscribe link, if offered. */
export function writeMail<Kind extends TemplateName>(kind: Kind, facts: Facts[Kind], stopUrl: string | null): Rendered {
  return render(templates[kind](facts), stopUrl);
}
