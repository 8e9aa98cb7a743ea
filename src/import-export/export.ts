import { toIso } from "../base/clock.ts";
import type { LinkId, TenantId } from "../base/ids.ts";
import { type Link, ownDomain } from "../links/link.ts";
import { showChoice } from "../links/routing/choice-schema.ts";
import type { LinkStore } from "../links/store.ts";
import { writeCsv } from "./csv.ts";
import { ownColumns, ownDomainWord } from "./formats.ts";

/** All links of a tenant as text that can be imported again, oldest first, so that an import keeps their order. */
export type ExportFormat = "csv" | "jsonl";

const pageRows = 1_000;

export async function* exportLinks(
  store: Pick<LinkStore, "listUp">,
  tenant: TenantId,
  format: ExportFormat,
): AsyncGenerator<{ readonly text: string; readonly links: number }> {
  if (format === "csv") yield { text: writeCsv(ownColumns), links: 0 };
  const write = format === "csv" ? toCsv : toJsonLine;
  for (let after: LinkId | undefined; ; ) {
    const page = await store.listUp(tenant, pageRows, after);
    if (page.length > 0) yield { text: page.map(write).join(""), links: page.length };
    after = page.at(-1)?.id;
    if (page.length < pageRows) return;
  }
}

type Shown = Readonly<Record<(typeof ownColumns)[number], unknown>>;

/** A link to a file has no URL. A password is marked, so that an import does not open the link to everyone. */
export function exportedLink(link: Link): Shown {
  const { code, url, file, title, notes, tags, status, permanent, fallbackUrl, hitsPerMonth, clickFacts, password } =
    link;
  return {
    domain: link.domain === ownDomain ? null : link.domain,
    ...{ code, url: file === null ? url : null, file, title, notes, tags, status, permanent },
    expiresAt: link.expiresAt === null ? null : toIso(link.expiresAt),
    ...{ fallbackUrl, hitsPerMonth, clickFacts },
    ...showChoice(link),
    ...{ password, createdAt: toIso(link.createdAt) },
  };
}

const toJsonLine = (link: Link): string => `${JSON.stringify(exportedLink(link))}\n`;

/** An empty cell counts as missing, so fields where null has a meaning use a keyword. */
const words: Partial<Shown> = { expiresAt: "never", domain: ownDomainWord };

function toCsv(link: Link): string {
  const shown = exportedLink(link);
  return writeCsv(
    ownColumns.map((name) => {
      const value = shown[name];
      if (name === "tags") return writeTags(link.tags);
      if (value === null) return String(words[name] ?? "");
      if (name === "password" || name === "forwardQuery") return value === true ? "true" : "";
      if (name === "clickFacts") return value === false ? "false" : "";
      if (Array.isArray(value) && value.length === 0) return "";
      return typeof value === "object" ? JSON.stringify(value) : String(value);
    }),
  );
}

/** Separated by commas, or JSON where commas would be ambiguous. */
function writeTags(tags: readonly string[]): string {
  const plain = tags.every((tag) => tag.trim() === tag && !tag.includes(",")) && !tags[0]?.startsWith("[");
  return plain ? tags.join(",") : JSON.stringify(tags);
}
