import { ApiError } from "../../api/call.ts";
import type { Person, ReceivedInvitation } from "../../api/generated.ts";
import { formatDate } from "../../format.ts";
import { invitationTexts as t } from "../../texts/sign-in.ts";

/** An invitation, its token, and who is signed in here. */
export interface OpenedInvitation {
  readonly token: string;
  readonly invitation: ReceivedInvitation;
  readonly person: Person | undefined;
}

export const isInvalid = (error: unknown): boolean => error instanceof ApiError && error.code === "token_invalid";

export function invitationLead({ inviter, role, expiresAt }: ReceivedInvitation): string {
  const what = inviter === null ? t.invitedBySomebody(t.roles[role]) : t.invited(inviter, t.roles[role]);
  return `${what} ${t.ends(formatDate(expiresAt))}`;
}
