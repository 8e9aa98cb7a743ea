import type { Form } from "../cache/tier.ts";
import { type ClickTarget, keysOfChange, type MeteredTarget, type TargetFile } from "../links/link.ts";
import type { Choice } from "../links/routing/choice.ts";
import { readRules } from "../links/routing/rules.ts";
import type { LinkNumber, TenantNumber } from "../sql/schema.ts";
import { tenantForm } from "../tenants/tenant-format.ts";
import type { TenantRecord } from "../tenants/tenants.ts";
import { type CachedLink, cachedLink, storedTarget } from "./link-source.ts";

/**
 * A link as stored in the shared cache: `{"u":"https://…"}`. A field is written only if it differs from what most links
 * have.
 *
 * `fields` must name every field of a target, or it does not compile. So a field added to links cannot get lost on the
 * way through Redis. The cache's own data is outside this object (`cache/tier.ts`).
 */
export const linkForm: Form<CachedLink> = {
  name: "v6",
  keysOf: keysOfChange,

  toJson(link) {
    const stored = storedTarget(link);
    return Object.fromEntries(
      names.flatMap((name) => {
        const json = toJson(name, stored);
        return json === undefined ? [] : [[fields[name].letter, json]];
      }),
    );
  },

  fromJson(json) {
    if (!isObject(json)) throw new Error("not a link as this version writes it");
    // Ignoring what a newer version says about a link would serve it wrongly.
    const unknown = Object.keys(json).find((letter) => !letters.has(letter));
    if (unknown !== undefined) throw new Error("a link with more than this version knows of");
    const link = Object.fromEntries(names.map((name) => [name, fields[name].read(json[fields[name].letter])]));
    const target = link as unknown as Link;
    if ((target.url === "") === (target.file === null)) throw new Error("a link leads to an address or to a file");
    return cachedLink(target);
  },
};

/** What Redis keeps: links, and the tenants that their answers depend on. */
export type SharedValue = CachedLink | TenantRecord;

export const isTenantRecord = (value: SharedValue): value is TenantRecord => "slug" in value;
export const isCachedLink = (value: SharedValue): value is CachedLink => !isTenantRecord(value);

/** One format, so that both are corrected together: `{"tenant":{…}}` is a tenant, anything else a link. */
export const sharedForm: Form<SharedValue> = {
  name: linkForm.name,
  keysOf: (change) => [...linkForm.keysOf(change), ...tenantForm.keysOf(change)],
  toJson: (value) => (isTenantRecord(value) ? { tenant: tenantForm.toJson(value) } : linkForm.toJson(value)),
  fromJson: (json) =>
    isObject(json) && json.tenant !== undefined ? tenantForm.fromJson(json.tenant) : linkForm.fromJson(json),
};

/** One field. Null and undefined are not written, and are read as undefined. */
interface Field<Value> {
  readonly letter: string;
  write(value: Value): unknown;
  /** Throws on anything unknown. */
  read(json: unknown): Value;
}

type Link = Required<MeteredTarget>;
type Fields = { readonly [Name in keyof Link]: Field<Link[Name]> };

const fields: Fields = {
  url: { letter: "u", write: (url) => (url === "" ? undefined : url), read: (json) => text(json) ?? "" },
  file: { letter: "d", write: (file) => file && fileToJson(file), read: fileFromJson },
  permanent: flag("p"),
  expiresAt: { letter: "e", write: (time) => time, read: count },
  fallbackUrl: { letter: "f", write: (url) => url, read: text },
  /** Whether the link has a password; never the password. */
  password: flag("w"),
  suspended: flag("s"),
  hitsPerMonth: { letter: "m", write: (max) => max, read: count },
  choice: { letter: "c", write: (choice) => choice && choiceToJson(choice), read: choiceFromJson },
  clicks: { letter: "n", write: clicksToJson, read: clicksFromJson },
};

const names = Object.keys(fields) as (keyof Fields)[];
const letters = new Set(names.map((name) => fields[name].letter));

function toJson<Name extends keyof Link>(name: Name, link: Link): unknown {
  const field: Field<Link[Name]> = fields[name];
  return field.write(link[name]) ?? undefined;
}

function flag(letter: string): Field<boolean> {
  return {
    letter,
    write: (set) => (set ? 1 : undefined),
    read(json) {
      if (json !== undefined && json !== 1) throw new Error(`${letter} is neither set nor missing`);
      return json === 1;
    },
  };
}

function text(json: unknown): string | null {
  if (json !== undefined && typeof json !== "string") throw new Error("not a text");
  return json ?? null;
}

function count(json: unknown): number | null {
  if (json !== undefined && !isCount(json)) throw new Error("not a whole number");
  return json ?? null;
}

const isCount = (json: unknown): json is number => Number.isSafeInteger(json);

const isObject = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === "object" && json !== null && !Array.isArray(json);

const choiceToJson = ({ rules, split, forwardQuery, ...rest }: Choice) => {
  rest satisfies Nothing;
  return {
    ...(rules.length > 0 && { r: rules }),
    ...(split.length > 0 && { s: split }),
    ...(forwardQuery && { q: 1 }),
  };
};

function choiceFromJson(json: unknown): Choice | null {
  if (json === undefined) return null;
  if (!isObject(json)) throw new Error("not a choice as this version writes it");
  const { r, s, q, ...unknown } = json;
  if (s !== undefined && !Array.isArray(s)) throw new Error("a split is not a list");
  if (Object.keys(unknown).length > 0) throw new Error("a choice with more than this version knows of");
  return { rules: r === undefined ? [] : readRules(r), split: s ?? [], forwardQuery: q === 1 };
}

function clicksToJson({ link, tenant, tags, facts, ...rest }: ClickTarget) {
  rest satisfies Nothing;
  return [link, tenant, ...(tags.length > 0 || !facts ? [tags] : []), ...(facts ? [] : [0])];
}

function clicksFromJson(json: unknown): ClickTarget {
  if (!Array.isArray(json)) throw new Error("a link without numbers");
  const [link, tenant, tags = [], facts = 1, ...unknown] = json as unknown[];
  if (
    !isCount(link) ||
    !isCount(tenant) ||
    !Array.isArray(tags) ||
    (facts !== 1 && facts !== 0) ||
    unknown.length > 0
  ) {
    throw new Error("not the numbers of a link as this version writes them");
  }
  return { link: link as LinkNumber, tenant: tenant as TenantNumber, tags, facts: facts === 1 };
}

const fileToJson = ({ key, name, type, sizeBytes, sha256, ...rest }: TargetFile) => {
  rest satisfies Nothing;
  return { k: key, n: name, t: type, s: sizeBytes, ...(sha256 !== null && { h: sha256 }) };
};

function fileFromJson(json: unknown): TargetFile | null {
  if (json === undefined) return null;
  if (!isObject(json)) throw new Error("not a file as this version writes it");
  const { k, n, t, s, h, ...unknown } = json;
  if (typeof k !== "string" || typeof n !== "string" || typeof t !== "string" || !isCount(s)) {
    throw new Error("not a file as this version writes it");
  }
  if (Object.keys(unknown).length > 0) throw new Error("a file with more than this version knows of");
  return { key: k, name: n, type: t, sizeBytes: s, sha256: text(h) };
}

/** What is left of an object after taking out every field. A forgotten field does not compile. */
type Nothing = Readonly<Record<PropertyKey, never>>;
