import type { Form } from "../cache/tier.ts";
import type { Known } from "./resolve.ts";

/**
 * A link in the shared cache: `{"u":"https://…","p":false}`, and only where there is something to say: `e` when it
 * expires, `f` where it falls back to, `w` that it asks for a password (never which), `s` that it was stopped, `m` its monthly limit.
 */
export const linkForm: Form<Known> = {
  name: "v1",

  toJson: ({ url, permanent, expiresAt, fallbackUrl, password, suspended, hitsMax }) => ({
    u: url,
    p: permanent,
    ...(expiresAt !== null && { e: expiresAt }),
    ...(fallbackUrl !== null && { f: fallbackUrl }),
    ...(password && { w: 1 }),
    ...(suspended && { s: 1 }),
    ...(hitsMax !== null && { m: hitsMax }),
  }),

  fromJson({ u, p, e = null, f = null, w = 0, s = 0, m = null }) {
    if (typeof u !== "string" || typeof p !== "boolean" || !isText(f) || !isCount(e) || !isCount(m)) {
      throw new Error("not a link as this version writes it");
    }
    return {
      url: u,
      permanent: p,
      expiresAt: e,
      fallbackUrl: f,
      password: w === 1,
      ...(s === 1 && { suspended: true as const }),
      hitsMax: m,
      pattern: undefined,
    };
  },
};

const isText = (value: unknown): value is string | null => value === null || typeof value === "string";
const isCount = (value: unknown): value is number | null => value === null || Number.isSafeInteger(value);
