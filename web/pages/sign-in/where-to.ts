import { readDraft, writeDraft } from "../../forms.ts";
import { ownPath } from "./own-path.ts";

const asked = (): string | undefined => ownPath(new URLSearchParams(location.search).get("returnTo"), location.origin);

export const afterSignIn = (): string => asked() ?? "/app/";

/** The session of somebody who was at work has ended. */
export const hasEnded = (): boolean => new URLSearchParams(location.search).has("ended");

/** Another page for visitors, which keeps where to go in the end. */
export function keepReturn(page: string): string {
  const wanted = asked();
  return wanted === undefined ? page : `${page}?returnTo=${encodeURIComponent(wanted)}`;
}

type TokenPage = "email" | "invitation";

/** The token of this page: behind the #, or kept while somebody signs in. It is never part of an address that is sent. */
export function tokenOf(page: TokenPage): string {
  const given = location.hash.slice(1);
  return given === "" ? (readDraft<string>(`token:${page}`) ?? "") : given;
}

export function forgetToken(page: TokenPage): void {
  writeDraft(`token:${page}`, undefined);
}

/** Signs in, and comes back to this page with its token. */
export function signInFor(page: TokenPage, token: string): void {
  writeDraft(`token:${page}`, token);
  location.assign(`/app/sign-in?returnTo=/app/${page}`);
}
