import { formatTime } from "./format.ts";
import type { Letter, LetterPart } from "./letter.ts";

/** Mails about an account. What a person wrote about themselves is never in a mail to somebody else's address. */
const text = (words: string): LetterPart => ({ kind: "text", text: words });
const action = (label: string, url: string): LetterPart => ({ kind: "action", label, url });

export interface VerificationFacts {
  readonly purpose:
    | "account"
    /** A new address for an account. */
    | "change"
    /** Somebody wants to create an account. */
    | "sign-up"
    /** The same, but there is one already. */
    | "existing";
  readonly url: string;
  readonly host: string;
  readonly hours: number;
}

export function verificationLetter({ purpose, url, host, hours }: VerificationFacts): Letter {
  const why = `Somebody entered your address at ${host}. If it was not you, ignore this email: nothing happens.`;
  const until = text(`The link works once, within ${hoursOf(hours)}.`);
  switch (purpose) {
    case "account":
      return {
        ...{ subject: `Confirm your email address for ${host}`, title: "Confirm your email address", why },
        parts: [
          text(`Please confirm that this is the address of your account at ${host}.`),
          action("Confirm", url),
          until,
        ],
      };
    case "change":
      return {
        ...{ subject: `Confirm your new email address for ${host}`, title: "Confirm your new email address", why },
        parts: [
          text(
            `You asked to use this address for your account at ${host}. Open the link in a browser where you are signed in.`,
          ),
          ...[action("Use this address", url), until],
        ],
      };
    case "sign-up":
      return {
        ...{ subject: `Create your account at ${host}`, title: "Create your account", why },
        parts: [text(`Continue here to create your account at ${host}.`), action("Continue", url), until],
      };
    case "existing":
      return {
        ...{ subject: `You already have an account at ${host}`, title: "You already have an account", why },
        parts: [
          text(`Somebody tried to create an account at ${host} with this address, which has one already.`),
          action("Sign in", url),
          text("If you forgot your password, you can reset it there."),
        ],
      };
  }
}

export interface ResetFacts {
  readonly url: string;
  readonly host: string;
  readonly hours: number;
}

export function resetLetter({ url, host, hours }: ResetFacts): Letter {
  return {
    subject: `Reset your password for ${host}`,
    title: "Reset your password",
    parts: [
      text(`Choose a new password for your account at ${host} here. It signs out all other devices.`),
      action("Choose a new password", url),
      text(`The link works once, within ${hoursOf(hours)}.`),
    ],
    why: `Somebody asked for this at ${host}. If it was not you, ignore this email: your password stays as it is.`,
  };
}

export interface SignInFacts {
  readonly device: string;
  readonly at: number;
  readonly url: string;
  readonly host: string;
}

export function signInLetter({ device, at, url, host }: SignInFacts): Letter {
  return {
    subject: `New sign-in at ${host}: ${device}`,
    title: "New sign-in to your account",
    parts: [
      text(`Your account was used with a new browser: ${device}, on ${formatTime(at)}.`),
      text("If this was you, there is nothing to do. If not, change your password and sign out all other devices."),
      action("Check your account", url),
    ],
    why: `You get this email because your address belongs to an account at ${host}.`,
  };
}

export interface RoleFacts {
  readonly workspace: string;
  /** Null: no member any more. */
  readonly role: string | null;
  readonly url: string;
  readonly host: string;
}

export function roleLetter({ workspace, role, url, host }: RoleFacts): Letter {
  const title = role === null ? `You are no longer a member of ${workspace}` : `Your role in ${workspace} changed`;
  return {
    ...{ subject: title, title },
    parts:
      role === null
        ? [text(`You were removed from the workspace ${workspace} at ${host}.`)]
        : [
            text(`Your role in the workspace ${workspace} at ${host} is now ${role}.`),
            action("Open the workspace", url),
          ],
    why: `You get this email because your address belongs to an account at ${host}.`,
  };
}

export interface AccountFacts {
  readonly what:
    | "password"
    | "email"
    | "second-factor-removed"
    | "second-factor-reset"
    | "passkey-added"
    | "passkey-removed";
  readonly at: number;
  readonly url: string;
  readonly host: string;
}

const changes: Readonly<Record<AccountFacts["what"], readonly [title: string, text: string]>> = {
  password: ["Your password was changed", "All other devices were signed out."],
  email: ["Your email address was changed", "Your account now uses another address. Mails about it go there."],
  "second-factor-removed": [
    "Your second factor was removed",
    "Signing in to your account now needs your password only.",
  ],
  "second-factor-reset": [
    "An operator removed your second factor",
    "Signing in to your account now needs your password only. You can set up a new one.",
  ],
  "passkey-added": ["A passkey was added to your account", "It can be used to sign in without a password."],
  "passkey-removed": ["A passkey was removed from your account", "It can no longer be used to sign in."],
};

export function accountLetter({ what, at, url, host }: AccountFacts): Letter {
  const [title, consequence] = changes[what];
  return {
    ...{ subject: `${title} (${host})`, title },
    parts: [
      text(`${title} on ${formatTime(at)}. ${consequence}`),
      text("If this was not you, reset your password at once and tell the operator of the server."),
      action("Check your account", url),
    ],
    why: `You get this email because your address belongs to an account at ${host}, or did.`,
  };
}

export interface InvitationFacts {
  readonly workspace: string;
  /** Who invites; null if their account is gone or it was the operator. */
  readonly inviter: string | null;
  readonly role: string;
  readonly url: string;
  readonly host: string;
  readonly days: number;
}

export function invitationLetter({ workspace, inviter, role, url, host, days }: InvitationFacts): Letter {
  const who = inviter ?? "An operator";
  return {
    subject: `Invitation to ${workspace} at ${host}`,
    title: `You are invited to ${workspace}`,
    parts: [
      text(`${who} invites you to the workspace ${workspace} at ${host}, as ${role}.`),
      action("Accept the invitation", url),
      text(`The link works once, within ${days === 1 ? "a day" : `${days} days`}.`),
    ],
    why: `Somebody entered your address at ${host}. If you do not know them, ignore this email: nothing happens.`,
  };
}

const hoursOf = (hours: number): string => (hours === 1 ? "an hour" : `${hours} hours`);
