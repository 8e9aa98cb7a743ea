/**
 * Parts of the dashboard are loaded when they are needed. After an update of the server the parts of the page that is open are
 * gone: only the page of the new version finds its own. Drafts outlive it.
 */
const missing = /dynamically imported module|module script failed/i;

export const isMissingScript = (error: unknown): boolean => error instanceof TypeError && missing.test(error.message);

const triedKey = "quicklink-reloaded";
const againMs = 60_000;

/** Not again and again, if it does not help. */
export function reloadForScript(): void {
  if (!navigator.onLine) return;
  try {
    if (Date.now() - Number(sessionStorage.getItem(triedKey) ?? 0) < againMs) return;
    sessionStorage.setItem(triedKey, String(Date.now()));
  } catch {
    return;
  }
  location.reload();
}
