import { useEffect, useState } from "react";
import { call } from "../../api/call.ts";
import type { SignInOptions } from "../../api/generated.ts";

export type Loaded<Value> =
  | { readonly kind: "loading" }
  | { readonly kind: "loaded"; readonly value: Value }
  | { readonly kind: "failed"; readonly error: unknown };

/** Reads something once, when the page opens. */
export function useOnce<Value>(read: () => Promise<Value>): Loaded<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ kind: "loading" });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    let isCurrent = true;
    read().then(
      (value) => isCurrent && setLoaded({ kind: "loaded", value }),
      (error: unknown) => isCurrent && setLoaded({ kind: "failed", error }),
    );
    return () => {
      isCurrent = false;
    };
  }, []);
  return loaded;
}

/** What to offer while it is not known: the least. A form that works is better than none. */
const least: SignInOptions = { setUp: false, signUp: "invitation", passkeys: false, company: null, mail: true };

/** What the server offers to visitors; undefined while it is read. */
export function useOptions(): SignInOptions | undefined {
  const options = useOnce(() => call("GET /api/auth/options"));
  if (options.kind === "loading") return undefined;
  return options.kind === "loaded" ? options.value : least;
}
