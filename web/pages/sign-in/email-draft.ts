import { readDraft } from "../../forms.ts";

/** The address that was typed on the page before: the sign-in, the reset and the sign-up ask for the same one. */
export const emailDraft = (): string => {
  const kept = readDraft<unknown>("sign-in-email");
  return typeof kept === "string" ? kept : "";
};
