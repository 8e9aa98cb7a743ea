import { fromIso, toIso } from "../base/clock.ts";
import { parseId } from "../base/ids.ts";
import { invalidInput } from "../http/problem.ts";
import type { z } from "../http/route.ts";
import { type Link, type LinkFields, type LinkState, originOf, shortUrl, stateless } from "./link.ts";
import type { LinkChange, LinkInput } from "./links.ts";
import { choiceFromInput, showChoice } from "./routing/choice-schema.ts";
import { createSchema, patchSchema } from "./schemas.ts";

/** A link as the API and the command line show it. */
export function showLink(link: Link, baseUrl: string, { target, suspended }: LinkState = stateless) {
  const { tenantId: _, url, expiresAt, createdAt, updatedAt, ...rest } = link;
  return {
    ...rest,
    url: link.file === null ? url : null,
    domain: new URL(originOf(baseUrl, link.domain)).host,
    shortUrl: shortUrl(baseUrl, link),
    tags: [...link.tags],
    ...showChoice(link),
    expiresAt: expiresAt === null ? null : toIso(expiresAt),
    target: target && { ...target, checkedAt: toIso(target.checkedAt) },
    suspended,
    createdAt: toIso(createdAt),
    updatedAt: toIso(updatedAt),
  };
}

/** The same validation for callers outside HTTP. */
export function parseNewLink(sent: unknown): LinkInput {
  const parsed = createSchema.safeParse(sent);
  if (!parsed.success) throw invalidInput(parsed.error, "link");
  return toInput(parsed.data);
}

export function parseLinkChange(sent: unknown): LinkChange {
  const parsed = patchSchema.safeParse(sent);
  if (!parsed.success) throw invalidInput(parsed.error, "link");
  return toFields(parsed.data);
}

type Sent = z.infer<typeof patchSchema>;

export function toFields(sent: Sent): LinkChange {
  const { expiresAt, url, file, rules, split, utm, forwardQuery, fetchTitle: _, ...rest } = sent;
  const fields = {
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...destinationOf(url, file),
    ...choiceFromInput({ rules, split, utm, forwardQuery }),
  };
  return expiresAt === undefined ? fields : { ...fields, expiresAt: expiresAt === null ? null : fromIso(expiresAt) };
}

export function toInput(sent: z.infer<typeof createSchema>): LinkInput {
  const { code, domain, private: hidden, ...rest } = sent;
  return {
    ...toFields(rest),
    ...(code !== undefined && { code }),
    ...(domain !== undefined && { domain }),
    ...(hidden && { private: true }),
  };
}

/** Omitted fields stay; otherwise one replaces the other. */
function destinationOf(url: string | null | undefined, file: string | null | undefined): Partial<LinkFields> {
  if (url === undefined && file === undefined) return {};
  const id = file == null ? undefined : parseId("file", file);
  return id === undefined ? { url: url ?? "", file: null } : { url: "", file: id };
}
