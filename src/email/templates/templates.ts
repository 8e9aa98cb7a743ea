import type { MailKind } from "../outbox/outbox.ts";
import { type DigestFacts, digestLetter } from "./digest.ts";
import { type Letter, type Rendered, render } from "./letter.ts";
import { deadTargetLetter, dropLetter, firstClickLetter, type LinkNoticeFacts, spikeLetter } from "./link-notices.ts";
import {
  type AccountFacts,
  accountLetter,
  type InvitationFacts,
  invitationLetter,
  type ResetFacts,
  type RoleFacts,
  resetLetter,
  roleLetter,
  type SignInFacts,
  signInLetter,
  type VerificationFacts,
  verificationLetter,
} from "./people.ts";
import { type QuotaFacts, quotaLetter } from "./quota.ts";
import { type ShareFacts, shareLetter } from "./share.ts";

/** Every email by its kind: a file beside this one that builds a letter from facts, and a line in both lists. */
export interface MailFacts extends Record<TemplateName, object> {
  readonly quota: QuotaFacts;
  readonly share: ShareFacts;
  readonly firstClick: LinkNoticeFacts;
  readonly spike: LinkNoticeFacts;
  readonly drop: LinkNoticeFacts;
  readonly deadTarget: LinkNoticeFacts;
  readonly digest: DigestFacts;
  readonly invitation: InvitationFacts;
  readonly verification: VerificationFacts;
  readonly reset: ResetFacts;
  readonly signIn: SignInFacts;
  readonly role: RoleFacts;
  readonly account: AccountFacts;
}

export type TemplateName = Exclude<MailKind, "report">;

const templates: { readonly [Kind in TemplateName]: (facts: MailFacts[Kind]) => Letter } = {
  quota: quotaLetter,
  share: shareLetter,
  firstClick: firstClickLetter,
  spike: spikeLetter,
  drop: dropLetter,
  deadTarget: deadTargetLetter,
  digest: digestLetter,
  invitation: invitationLetter,
  verification: verificationLetter,
  reset: resetLetter,
  signIn: signInLetter,
  role: roleLetter,
  account: accountLetter,
};

/** `stopUrl`: the unsubscribe link, if offered. */
export function writeMail<Kind extends TemplateName>(
  kind: Kind,
  facts: MailFacts[Kind],
  stopUrl: string | null,
): Rendered {
  return render(templates[kind](facts), stopUrl);
}
