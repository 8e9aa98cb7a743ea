/**
 * The sign-in is another page: nothing of the account that was here stays in memory. It returns to `href`, an
 * address of the router, afterwards.
 */
export function toSignIn(href: string): Promise<never> {
  location.assign(`/app/sign-in?returnTo=${encodeURIComponent(`/app${href}`)}`);
  return new Promise(() => {});
}
