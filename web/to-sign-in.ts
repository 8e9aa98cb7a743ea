/**
 * The sign-in is another page: nothing of the account that was here stays in memory. It returns to `href`, an
 * address of the router, afterwards. `hasEnded`: somebody was at work here, and is told why they are not any more.
 */
export function toSignIn(href: string, hasEnded = false): Promise<never> {
  location.assign(`/app/sign-in?returnTo=${encodeURIComponent(`/app${href}`)}${hasEnded ? "&ended" : ""}`);
  return new Promise(() => {});
}
