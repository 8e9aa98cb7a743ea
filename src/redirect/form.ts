import type { Form } from "../cache/tier.ts";
import type { TargetFile } from "../links/link.ts";
import type { Known } from "./resolve.ts";

/**
 * A link in the shared cache: `{"u":"https://…","p":false}`, and only where there is something to say: `e` when it
 * expires, `f` where it falls back to, `w` that it asks for a password (never which), `m` its monthly limit. A link to a
 * file has no `u` but `d`, what a download needs: a server of the version before does not know that, and asks SQL.
 */
export const linkForm: Form<Known> = {
  name: "v1",

  toJson: ({ url, file, permanent, expiresAt, fallbackUrl, password, hitsMax }) => ({
    ...(file === null ? { u: url } : { d: fileToJson(file) }),
    p: permanent,
    ...(expiresAt !== null && { e: expiresAt }),
    ...(fallbackUrl !== null && { f: fallbackUrl }),
    ...(password && { w: 1 }),
    ...(hitsMax !== null && { m: hitsMax }),
  }),

  fromJson({ u, d, p, e = null, f = null, w = 0, m = null }) {
    const file = d === undefined ? null : fileFromJson(d);
    const url = file === null ? u : "";
    if (typeof url !== "string" || typeof p !== "boolean" || !isText(f) || !isCount(e) || !isCount(m)) {
      throw new Error("not a link as this version writes it");
    }
    const password = w === 1;
    return { url, file, permanent: p, expiresAt: e, fallbackUrl: f, password, hitsMax: m, pattern: undefined };
  },
};

const fileToJson = ({ key, name, type, sizeBytes, sha256 }: TargetFile) => ({
  k: key,
  n: name,
  t: type,
  s: sizeBytes,
  ...(sha256 !== null && { h: sha256 }),
});

function fileFromJson(json: unknown): TargetFile {
  const { k, n, t, s, h = null } = (json ?? {}) as Readonly<Record<string, unknown>>;
  if (
    typeof k !== "string" ||
    typeof n !== "string" ||
    typeof t !== "string" ||
    !isText(h) ||
    !isCount(s) ||
    s === null
  ) {
    throw new Error("not a file as this version writes it");
  }
  return { key: k, name: n, type: t, sizeBytes: s, sha256: h };
}

const isText = (value: unknown): value is string | null => value === null || typeof value === "string";
const isCount = (value: unknown): value is number | null => value === null || Number.isSafeInteger(value);
