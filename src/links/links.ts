import { type Clock, dayMs } from "../base/clock.ts";
import { invalid, Problem } from "../base/errors.ts";
import { type LinkId, newId, type TenantId } from "../base/ids.ts";
import type { Issuer } from "../codes/issuer.ts";
import { isReserved, slugPattern } from "../codes/slugs.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { createBulk } from "./bulk.ts";
import { parseDestination } from "./destination.ts";
import { type Link, type LinkFields, ownDomain } from "./link.ts";
import { generatedTries, limitReached, missing, taken } from "./refusals.ts";
import type { Changed, LinkStore, NewLink } from "./store.ts";

/** The rules of links: what is accepted, what a link starts with, and who is told when one changes. */
export interface LinkInput extends Partial<LinkFields> {
  readonly url: string;
  readonly code?: string;
  /** Chosen before it was first asked for: asked for again, the link that has it is the answer. */
  readonly id?: LinkId;
}

export interface Page {
  readonly items: readonly Link[];
  readonly nextCursor: LinkId | null;
}

/** One place in a bulk request: the link, or why there is none. */
export type BulkResult = { readonly link: Link } | { readonly problem: Problem };

/** Who makes a link. What the operator makes on the machine itself spends none of the tenant's limits. */
export type Maker = "tenant" | "operator";

export interface Links {
  create(tenant: Tenant, input: LinkInput, maker: Maker): Promise<Link>;
  /** Each on its own: a bad one does not keep the others out. `atomic`: all of them, or none. */
  createMany(tenant: Tenant, inputs: readonly LinkInput[], maker: Maker, atomic?: boolean): Promise<BulkResult[]>;
  get(tenant: TenantId, id: LinkId): Promise<Link>;
  byCode(tenant: TenantId, code: string): Promise<Link>;
  list(tenant: TenantId, limit: number, cursor?: LinkId): Promise<Page>;
  /** Changes the fields given and leaves the others. */
  patch(tenant: Tenant, id: LinkId, fields: Partial<LinkFields>, expected?: number): Promise<Link>;
  /** Sets every field; those not given go back to what a new link has. */
  replace(tenant: Tenant, id: LinkId, fields: LinkInput, expected?: number): Promise<Link>;
  remove(tenant: TenantId, id: LinkId, expected?: number): Promise<void>;
}

export interface LinkSettings {
  readonly store: LinkStore;
  readonly issuer: Issuer;
  readonly clock: Clock;
  /** Hosts that are this server: links must not lead back to it. */
  readonly ownHosts: ReadonlySet<string>;
  readonly defaultDays: number;
  /** Told after the commit. */
  readonly changed: (domain: string, code: string, version: number) => void;
}

export function createLinks({ store, issuer, clock, ownHosts, defaultDays, changed }: LinkSettings): Links {
  function prepare(tenant: Tenant, input: LinkInput): LinkFields {
    const fields = complete(input, clock.now() + defaultDays * dayMs);
    return check(tenant, fields, new Set(Object.keys(input) as (keyof LinkFields)[]));
  }

  /** Only what the caller gave is held to the rules of today; the rest was accepted when it came. */
  function check(tenant: Tenant, fields: LinkFields, given: ReadonlySet<keyof LinkFields>): LinkFields {
    const most = tenant.limits.hitsPerLinkPerMonth;
    if (given.has("hitsPerMonth") && fields.hitsPerMonth !== null && most !== null && fields.hitsPerMonth > most) {
      throw invalid("hitsPerMonth", "above_plan", `Your plan allows at most ${most} hits per link and month.`);
    }
    if (given.has("expiresAt") && fields.expiresAt !== null && fields.expiresAt <= clock.now()) {
      throw invalid("expiresAt", "in_the_past", "The expiry must be in the future. To stop a link now, disable it.");
    }
    return {
      ...fields,
      url: given.has("url") ? parseDestination("url", fields.url, ownHosts) : fields.url,
      fallbackUrl:
        given.has("fallbackUrl") && fields.fallbackUrl !== null
          ? parseDestination("fallbackUrl", fields.fallbackUrl, ownHosts)
          : fields.fallbackUrl,
    };
  }

  async function draft(tenant: Tenant, input: LinkInput): Promise<NewLink> {
    const fields = prepare(tenant, input);
    if (input.code !== undefined) checkSlug(input.code);
    return {
      ...fields,
      id: input.id ?? newId("link", clock),
      domain: ownDomain,
      code: input.code ?? (await issuer.next()),
      generated: input.code === undefined,
      findable: input.id !== undefined,
      at: clock.now(),
    };
  }

  /** Inserts, giving those whose generated code was taken another one. */
  async function insert(tenant: Tenant, drafts: readonly NewLink[], maker: Maker): Promise<BulkResult[]> {
    const spending = maker === "operator" ? "nothing" : tenant.limits;
    const results: BulkResult[] = [];
    let waiting = drafts.map((link, place) => ({ link, place }));
    for (let tries = 1; waiting.length > 0; tries++) {
      const written = await store.insert(
        tenant.id,
        waiting.map(({ link }) => link),
        spending,
      );
      const again: typeof waiting = [];
      for (const [i, { link, place }] of waiting.entries()) {
        const outcome = written[i];
        if (outcome?.kind === "written") {
          results[place] = { link: outcome.link };
          changed(link.domain, link.code, outcome.link.version);
        } else if (outcome?.kind === "found") {
          results[place] = { link: outcome.link };
        } else if (outcome?.kind === "spent") {
          results[place] = { problem: limitReached(tenant, clock.now()) };
        } else if (link.generated && tries < generatedTries) {
          again.push({ link: { ...link, code: await issuer.next() }, place });
        } else {
          results[place] = { problem: taken(link) };
        }
      }
      waiting = again;
    }
    return results;
  }

  function settle(outcome: Changed): Link {
    if (outcome.kind === "missing") throw missing();
    if (outcome.kind === "conflict") {
      throw new Problem(
        "version_conflict",
        "The link was changed meanwhile. Read it again and repeat your change on what you find.",
      );
    }
    changed(outcome.link.domain, outcome.link.code, outcome.link.version);
    return outcome.link;
  }

  return {
    async create(tenant, input, maker) {
      const made = input.id && (await store.get(tenant.id, input.id));
      if (made) return made;
      const [result] = await insert(tenant, [await draft(tenant, input)], maker);
      if (result === undefined) throw new Error("the store answered nothing");
      if ("problem" in result) throw result.problem;
      return result.link;
    },

    createMany: createBulk({ store, issuer, clock, changed, draft, insert }),

    async get(tenant, id) {
      return (await store.get(tenant, id)) ?? Promise.reject(missing());
    },

    async byCode(tenant, code) {
      return (await store.byCode(tenant, ownDomain, code)) ?? Promise.reject(missing());
    },

    async list(tenant, limit, cursor) {
      const found = await store.list(tenant, limit + 1, cursor);
      const items = found.slice(0, limit);
      return { items, nextCursor: found.length > limit ? (items.at(-1)?.id ?? null) : null };
    },

    async patch(tenant, id, fields, expected) {
      const given = new Set(Object.keys(fields) as (keyof LinkFields)[]);
      const edit = (link: Link) => check(tenant, { ...fieldsOf(link), ...fields }, given);
      return settle(await store.update(tenant.id, id, edit, clock.now(), expected));
    },

    async replace(tenant, id, input, expected) {
      const fields = prepare(tenant, input);
      return settle(await store.update(tenant.id, id, () => fields, clock.now(), expected));
    },

    async remove(tenant, id, expected) {
      settle(await store.remove(tenant, id, clock.now(), expected));
    },
  };
}

function complete(input: LinkInput, expiresAt: number): LinkFields {
  return {
    url: input.url,
    permanent: input.permanent ?? false,
    status: input.status ?? "active",
    expiresAt: input.expiresAt === undefined ? expiresAt : input.expiresAt,
    title: input.title ?? null,
    notes: input.notes ?? null,
    tags: input.tags ?? [],
    fallbackUrl: input.fallbackUrl ?? null,
    hitsPerMonth: input.hitsPerMonth ?? null,
  };
}

function fieldsOf(link: Link): LinkFields {
  const { url, permanent, status, expiresAt, title, notes, tags, fallbackUrl, hitsPerMonth } = link;
  return { url, permanent, status, expiresAt, title, notes, tags, fallbackUrl, hitsPerMonth };
}

function checkSlug(code: string): void {
  if (!slugPattern.test(code)) {
    throw invalid("code", "bad_code", "A code has 3 to 64 characters: letters, digits, - and _.");
  }
  if (isReserved(code)) throw invalid("code", "reserved", `"${code}" is reserved. Choose another code.`);
}
