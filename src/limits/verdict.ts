/** The answer of a limit. Denied is never unavailable: the first is the caller's problem, the second ours. */
export type Verdict =
  | { readonly kind: "granted" }
  | { readonly kind: "denied"; readonly retryAfterSeconds: number }
  | { readonly kind: "unavailable"; readonly retryAfterSeconds: number };

export const granted = { kind: "granted" } as const satisfies Verdict;
