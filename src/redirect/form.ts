import type { Form } from "../cache/tier.ts";
import type { Choice } from "../links/choice.ts";
import type { TargetFile } from "../links/link.ts";
import { readRules } from "../links/rules.ts";
import type { Known } from "./resolve.ts";

/**
 * A link in the shared cache: `{"u":"https://…","p":false}`, and only where there is something to say: `e` when it
 * expires, `f` where it falls back to, `w` that it asks for a password (never which), `x` that it was stopped, `m` its monthly limit; `r` its
 * rules, `s` its split, `q` that the visitor's parameters go along. A link to a file has no `u` but `d`, what a download
 * needs.
 */
export const linkForm: Form<Known> = {
  name: "v2",

  toJson: ({ url, file, permanent, expiresAt, fallbackUrl, password, suspended, hitsMax, choice }) => ({
    ...(file === null ? { u: url } : { d: fileToJson(file) }),
    p: permanent,
    ...(expiresAt !== null && { e: expiresAt }),
    ...(fallbackUrl !== null && { f: fallbackUrl }),
    ...(password && { w: 1 }),
    ...(suspended && { x: 1 }),
    ...(hitsMax !== null && { m: hitsMax }),
    ...(choice !== null && choiceToJson(choice)),
  }),

  fromJson({ u, d, p, e = null, f = null, w = 0, x = 0, m = null, r, s, q, ...unknown }) {
    const file = d === undefined ? null : fileFromJson(d);
    const url = file === null ? u : "";
    if (typeof url !== "string" || typeof p !== "boolean" || !isText(f) || !isCount(e) || !isCount(m)) {
      throw new Error("not a link as this version writes it");
    }
    // Whatever a newer version has to say about a link, it is not to be left out.
    if (Object.keys(unknown).length > 0) throw new Error("a link with more than this version knows of");
    const choice = choiceFromJson(r, s, q);
    return {
      ...{ url, file, permanent: p, expiresAt: e, fallbackUrl: f, password: w === 1, hitsMax: m, choice },
      ...(x === 1 && { suspended: true as const }),
      pattern: undefined,
    };
  },
};

/**
 * The form before. It knows of no rules, and a server that still writes it reads none in SQL: so a link that stands
 * there may lead elsewhere by now, and all it tells is that there is such a version.
 */
export const formerForm: Form<Known> = { ...linkForm, name: "v1", fromJson: () => undefined };

const choiceToJson = ({ rules, split, forwardQuery }: Choice) => ({
  ...(rules.length > 0 && { r: rules }),
  ...(split.length > 0 && { s: split }),
  ...(forwardQuery && { q: 1 }),
});

function choiceFromJson(r: unknown, s: unknown, q: unknown): Choice | null {
  if (r === undefined && s === undefined && q === undefined) return null;
  if (s !== undefined && !Array.isArray(s)) throw new Error("a split is not a list");
  return { rules: r === undefined ? [] : readRules(r), split: s ?? [], forwardQuery: q === 1 };
}

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
