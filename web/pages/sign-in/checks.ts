import { visitorTexts as t } from "../../texts/sign-in.ts";

/** The API's rules, as far as they can be told while somebody types. The rest is told at the field when the form is sent. */
const passwordLeast = 10;

export const isGiven = (value: string): string | undefined => (value.trim() === "" ? t.required : undefined);

export const isEmail = (value: string): string | undefined =>
  isGiven(value) ?? (/^\s*\S+@\S+\s*$/.test(value) ? undefined : t.noEmail);

export function isLongEnough(value: string): string | undefined {
  if (value === "") return t.required;
  return [...value.normalize("NFKC")].length < passwordLeast ? t.tooShort : undefined;
}
