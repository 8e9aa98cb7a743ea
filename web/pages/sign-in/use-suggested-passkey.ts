import { useEffect, useRef } from "react";
import { call } from "../../api/call.ts";
import { canSuggestPasskeys, passkeyWasUsedHere, signWithCredential, type UsedCredential } from "../../passkeys.ts";

/** The options of the API work for five minutes; the page may be open for longer. */
const renewMs = 4 * 60_000;

/** Where a passkey was used before, the browser suggests it at the field, without a click. */
export function useSuggestedPasskey(
  isOffered: boolean,
  onChosen: (credential: UsedCredential) => void,
): { readonly stop: () => void } {
  const waiting = useRef<AbortController>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for the page
  useEffect(() => {
    if (!isOffered || !passkeyWasUsedHere()) return;
    const controller = new AbortController();
    waiting.current = controller;
    void suggest(controller.signal).then((credential) => credential && onChosen(credential));
    return () => controller.abort();
  }, []);
  return { stop: () => waiting.current?.abort() };
}

/** Whatever goes wrong here, nobody has asked for it: the button still works. */
async function suggest(stopped: AbortSignal): Promise<UsedCredential | undefined> {
  if (!(await canSuggestPasskeys())) return undefined;
  while (!stopped.aborted) {
    const round = AbortSignal.timeout(renewMs);
    const asked = { signal: AbortSignal.any([stopped, round]), suggested: true };
    try {
      return await signWithCredential(await call("POST /api/auth/passkey/begin"), asked);
    } catch {
      if (!round.aborted) return undefined;
    }
  }
  return undefined;
}
