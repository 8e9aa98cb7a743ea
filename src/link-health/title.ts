import { decodeEntities } from "./entities.ts";

/**
 * The title of a page: its og:title, else its title. Pages come from strangers, so this scans the text once, looks at a
 * bounded number of tags, and returns one clean line: no breaks, no invisible characters, 200 characters.
 */
export const titleMost = 200;
const descriptionMost = 500;
const imageMost = 2_048;

const tagsMost = 2_000;
const tagMost = 4_096;
// The name ends where another character follows, so that a tag can be parsed in only one way.
const tag = /^<([a-z][a-z0-9]*)((?:[^a-z0-9"'<>]|"[^"]*"|'[^']*')(?:[^"'<>]|"[^"]*"|'[^']*')*)?>/i;
const attribute = /(?:^|\s)([a-z]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))/gi;

export function titleOf(body: Buffer, contentType: string): string | undefined {
  return pageMetaOf(body, contentType)?.title;
}

/** What a page says about itself, for previews. The image may be a relative URL. */
export interface PageMeta {
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly image: string | undefined;
}

/** `undefined` if it is not a page. */
export function pageMetaOf(body: Buffer, contentType: string): PageMeta | undefined {
  if (!/^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i.test(contentType)) return undefined;
  const { title, metas } = readHead(decode(body, contentType));
  const first = (...names: string[]) => names.map((name) => metas.get(name)).find((text) => text?.trim());
  const lineOf = (text: string | undefined, most: number) =>
    text === undefined ? undefined : asLine(decodeEntities(text), most);
  return {
    title: lineOf(first("og:title") ?? title, titleMost),
    description: lineOf(first("og:description", "description", "twitter:description"), descriptionMost),
    image: lineOf(first("og:image", "og:image:url", "twitter:image"), imageMost),
  };
}

/** The title and the meta tags of a page by name; the first of each counts. */
function readHead(html: string): { title: string | undefined; metas: Map<string, string> } {
  const lower = html.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const metas = new Map<string, string>();
  let title: string | undefined;
  let at = html.indexOf("<");
  for (let tags = 0; at !== -1 && tags < tagsMost; tags++) {
    let next = at + 1;
    if (html.startsWith("<!--", at)) next = after(html, "-->", at);
    const [whole, name = "", attributes = ""] = tag.exec(html.slice(at, at + tagMost)) ?? [];
    if (whole !== undefined) {
      next = at + whole.length;
      const kind = name.toLowerCase();
      if (kind === "body") break;
      if (kind === "meta") {
        const found = attributesOf(attributes);
        const named = (found.get("property") ?? found.get("name"))?.toLowerCase();
        const content = found.get("content");
        if (named !== undefined && content?.trim() && !metas.has(named)) metas.set(named, content);
      }
      if (kind === "title" && title === undefined) {
        const end = lower.indexOf("</title", next);
        title = html.slice(next, end === -1 ? next + tagMost : end);
      }
      if (kind === "script" || kind === "style" || kind === "title") next = after(lower, `</${kind}`, next);
    }
    at = html.indexOf("<", next);
  }
  return { title, metas };
}

/** Position after the next occurrence; the end if there is none. */
function after(text: string, what: string, from: number): number {
  const found = text.indexOf(what, from);
  return found === -1 ? text.length : found + what.length;
}

/** By lower-case name; the first of each counts. */
function attributesOf(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, name = "", quoted, single, bare] of text.matchAll(attribute)) {
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, quoted ?? single ?? bare ?? "");
  }
  return found;
}

type Encoding = ConstructorParameters<typeof TextDecoder>[0];

/** By the server's charset, else the page's. */
function decode(body: Buffer, contentType: string): string {
  const start = body.subarray(0, 1_024).toString("latin1");
  const said = /charset\s*=\s*["']?([\w:.-]+)/i;
  const marked = start.startsWith("\xff\xfe") ? "utf-16le" : start.startsWith("\xfe\xff") ? "utf-16be" : undefined;
  const byMeta = () =>
    start
      .match(/<meta[^<>]*>/gi)
      ?.flatMap((meta) => said.exec(meta)?.[1] ?? [])
      .at(0);
  const label = marked ?? said.exec(contentType)?.[1] ?? byMeta();
  try {
    return new TextDecoder((label ?? "utf-8") as Encoding).decode(body);
  } catch {
    return new TextDecoder().decode(body); // an unknown charset
  }
}

function asLine(text: string, most: number): string | undefined {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zs}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/\p{Cf}/gu, "")
    .trim();
  if (line === "") return undefined;
  if (line.length <= most) return line;
  return `${line
    .slice(0, most - 1)
    .replace(/[\ud800-\udbff]$/, "")
    .trimEnd()}…`;
}
