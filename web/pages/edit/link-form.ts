import type { Link, LinkPatch, NewLink, Rule, Utm } from "../../api/generated.ts";
import { isoOf } from "../../local-time.ts";
import { wholeNumberOf as numberOf } from "../../whole-number.ts";

/** What the form holds: texts as they are typed. `bodyOf` turns them into what the API takes. */
export interface LinkForm {
  readonly kind: "url" | "file";
  readonly url: string;
  readonly file: string | null;
  /** Of a new link only. Empty: the default domain. */
  readonly domain: string;
  readonly code: string;
  readonly isPrivate: boolean;
  /** Local time as the browser writes it. Empty: never. */
  readonly expires: string;
  readonly hits: string;
  /** `keep`: as it is. */
  readonly password: { readonly mode: "none" | "keep" | "set"; readonly text: string };
  readonly fallbackUrl: string;
  readonly title: string;
  readonly notes: string;
  readonly tags: readonly string[];
  readonly permanent: boolean;
  readonly forwardQuery: boolean;
  readonly clickFacts: boolean;
  readonly rules: readonly RuleForm[];
  readonly split: readonly SplitForm[];
  readonly utm: UtmForm;
}

/** A `key` stays with its row while rows move. */
export interface RuleForm extends Rule {
  readonly key: string;
}

export interface SplitForm {
  readonly key: string;
  readonly url: string;
  readonly weight: string;
}

export const utmNames = ["source", "medium", "campaign", "term", "content"] as const;
export type UtmName = (typeof utmNames)[number];
export type UtmForm = Readonly<Record<UtmName, string>>;

export const emptyUtm: UtmForm = { source: "", medium: "", campaign: "", term: "", content: "" };

let lastKey = 0;
/** Random enough to differ from the keys of a stored draft. */
export const newKey = (): string => `${Date.now().toString(36)}-${(lastKey++).toString(36)}`;

export function emptyForm(url: string, linkDays: number | undefined, now = new Date()): LinkForm {
  return {
    ...{ kind: "url", url, file: null, domain: "", code: "", isPrivate: false },
    ...{ expires: linkDays === undefined ? "" : endOfDay(now, linkDays), hits: "" },
    ...{ password: { mode: "none", text: "" }, fallbackUrl: "", title: "", notes: "", tags: [] },
    ...{ permanent: false, forwardQuery: false, clickFacts: true, rules: [], split: [], utm: emptyUtm },
  };
}

export function formOf(link: Link): LinkForm {
  const { url, file, expiresAt, hitsPerMonth, fallbackUrl, title, notes, tags, permanent, forwardQuery } = link;
  return {
    ...{ kind: file === null ? "url" : "file", url: url ?? "", file },
    ...{ domain: link.domain, code: link.code, isPrivate: false },
    ...{ expires: expiresAt === null ? "" : localTime(new Date(expiresAt)) },
    ...{ hits: hitsPerMonth === null ? "" : String(hitsPerMonth) },
    ...{ password: { mode: link.password ? "keep" : "none", text: "" }, fallbackUrl: fallbackUrl ?? "" },
    ...{ title: title ?? "", notes: notes ?? "", tags, permanent, forwardQuery, clickFacts: link.clickFacts },
    rules: link.rules.map((rule) => ({ ...rule, key: newKey() })),
    split: link.split.map(({ url: to, weight }) => ({ url: to, weight: String(weight), key: newKey() })),
    utm: utmForm(link.utm),
  };
}

/** A copy starts with its own code. */
export const copyOf = (link: Link): LinkForm => {
  const form = formOf(link);
  return { ...form, code: "", password: { mode: "none", text: "" }, expires: isPast(form.expires) ? "" : form.expires };
};

export const utmForm = (utm: Utm | null): UtmForm => ({
  ...{ source: utm?.source ?? "", medium: utm?.medium ?? "", campaign: utm?.campaign ?? "" },
  ...{ term: utm?.term ?? "", content: utm?.content ?? "" },
});

const isPast = (local: string): boolean => local !== "" && new Date(local).getTime() <= Date.now();

/** The fields that can be changed later. */
export function patchOf(form: LinkForm): LinkPatch {
  const { kind, password, permanent, forwardQuery, clickFacts, tags } = form;
  return {
    ...(kind === "url" ? { url: withScheme(form.url), file: null } : { url: null, file: form.file }),
    expiresAt: form.expires === "" ? null : isoOf(form.expires),
    hitsPerMonth: numberOf(form.hits),
    fallbackUrl: orNull(withScheme(form.fallbackUrl)),
    title: orNull(form.title.trim()),
    notes: orNull(form.notes.trim()),
    ...{ tags, permanent, forwardQuery, clickFacts },
    rules: form.rules.map(({ when, url }) => ({ when, url: withScheme(url) })),
    split: form.split.map(({ url, weight }) => ({ url: withScheme(url), weight: numberOf(weight) ?? 0 })),
    utm: utmOf(form.utm),
    ...(password.mode === "set" && { password: password.text }),
    ...(password.mode === "none" && { password: null }),
  };
}

export function newLinkOf(form: LinkForm): NewLink {
  const { url, file, ...rest } = patchOf(form);
  const code = form.code.trim();
  return {
    ...rest,
    ...(form.kind === "url" ? { url: url ?? "" } : { file: file ?? null }),
    ...(code !== "" && { code }),
    ...(form.domain !== "" && { domain: form.domain }),
    ...(form.isPrivate && code === "" && { private: true }),
    ...(rest.title === null && form.kind === "url" && { fetchTitle: true }),
  };
}

/** Only what differs from `base`. */
export function changesOf(base: LinkForm, form: LinkForm): LinkPatch {
  const [before, after] = [patchOf(base), patchOf(form)];
  const entries = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof LinkPatch]),
  );
  return Object.fromEntries(entries);
}

export function utmOf(utm: UtmForm): Exclude<LinkPatch["utm"], undefined> {
  const set = utmNames.filter((name) => utm[name].trim() !== "").map((name) => [name, utm[name].trim()]);
  return set.length === 0 ? null : Object.fromEntries(set);
}

export const summariseUtm = (utm: UtmForm): string =>
  utmNames
    .map((name) => utm[name].trim())
    .filter((value) => value !== "")
    .join(" · ");

const orNull = (text: string): string | null => (text === "" ? null : text);

const hostLike = /^(?:[\p{L}\d-]+\.)+[\p{L}\d-]{2,}(?::\d+)?(?:[/?#]|$)/u;

/** "example.com/page" means https. */
export function withScheme(text: string): string {
  const trimmed = text.trim();
  return hostLike.test(trimmed) ? `https://${trimmed}` : trimmed;
}

export function endOfDay(now: Date, days: number): string {
  const day = new Date(now);
  day.setDate(day.getDate() + days);
  day.setHours(23, 59, 0, 0);
  return localTime(day);
}

/** As `<input type="datetime-local">` writes it. */
export function localTime(time: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${String(time.getFullYear()).padStart(4, "0")}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** Without the scheme, as people read it. */
export const shortly = (url: string): string => url.replace(/^https?:\/\//, "");
