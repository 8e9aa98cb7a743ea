import { texts } from "./texts.ts";

export const proofTexts = texts({
  title: "Confirm that it is you",
  lead: "This is hard to undo, or changes how you sign in.",
  password: "Password",
  code: "Code of your authenticator app, or a recovery code",
  submit: "Continue",
  close: "Close",
  show: "Show password",
  hide: "Hide password",
  byPassword: "Use your password",
  byCode: "Use a code",
  byPasskey: "Use a passkey",
  again: "Your last sign-in was too long ago. Sign in again, then repeat this within 15 minutes.",
  signInAgain: "Sign in again",
  passkeyCancelled: "No passkey was used. Try again.",
  passkeyFailed: "The browser could not use a passkey here.",
  required: "Required.",
});
