/** What a limit answers. Denied is never unavailable: the one is the caller's, the other ours. */
export type Verdict =
  | { readonly kind: "granted" }
  | { readonly kind: "denied"; readonly retryAfterSeconds: number }
  | { readonly kind: "unavailable"; readonly retryAfterSeconds: number };

export const granted = { kind: "granted" } as const satisfies Verdict;
