import { type Clock, dayMs, toIso } from "../base/clock.ts";
import { invalid, Problem } from "../base/errors.ts";
import { type LinkId, newId, type TenantId } from "../base/ids.ts";
import type { Issuer } from "../codes/issuer.ts";
import { isReserved, slugPattern } from "../codes/slugs.ts";
import { monthEnd, secondsToMonthEnd } from "../limits/month.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { parseDestination } from "./destination.ts";
import { type Link, type LinkFields, ownDomain } from "./link.ts";
import type { Changed, LinkStore, NewLink } from "./store.ts";

/** The rules of links: what is accepted, what a link starts with, and who is told when one changes. */
export interface LinkInput extends Partial<LinkFields> {
  readonly url: string;
  readonly code?: string;
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
  /** Each on its own: a bad one does not keep the others out. */
  createMany(tenant: Tenant, inputs: readonly LinkInput[], maker: Maker): Promise<BulkResult[]>;
  /** What a new link would be, by all rules but whether its code is free. Nothing is written. */
  check(tenant: Tenant, input: LinkInput): LinkFields;
  /** The same with an id and a code, for whoever writes many in a transaction of their own. */
  draft(tenant: Tenant, input: LinkInput): Promise<NewLink>;
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

// The permutation cannot collide with itself, so a generated code is only ever taken by somebody's slug or an older
// salt's code: each try after the first has a chance of links / 62^7.
const generatedTries = 20;
const batchRows = 100; // short transactions: another writer waits for one of them at most

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

  function checkNew(tenant: Tenant, input: LinkInput): LinkFields {
    const fields = prepare(tenant, input);
    if (input.code !== undefined) checkSlug(input.code);
    return fields;
  }

  async function draft(tenant: Tenant, input: LinkInput): Promise<NewLink> {
    return {
      ...checkNew(tenant, input),
      id: newId("link", clock),
      domain: ownDomain,
      code: input.code ?? (await issuer.next()),
      generated: input.code === undefined,
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
      const [result] = await insert(tenant, [await draft(tenant, input)], maker);
      if (result === undefined) throw new Error("the store answered nothing");
      if ("problem" in result) throw result.problem;
      return result.link;
    },

    async createMany(tenant, inputs, maker) {
      const results: BulkResult[] = [];
      for (let start = 0; start < inputs.length; start += batchRows) {
        const drafts: NewLink[] = [];
        const places: number[] = [];
        for (const [i, input] of inputs.slice(start, start + batchRows).entries()) {
          try {
            drafts.push(await draft(tenant, input));
            places.push(start + i);
          } catch (error) {
            if (!(error instanceof Problem)) throw error;
            results[start + i] = { problem: error };
          }
        }
        for (const [i, result] of (await insert(tenant, drafts, maker)).entries()) results[places[i] ?? -1] = result;
      }
      return results;
    },

    check: checkNew,
    draft,

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

const missing = () => new Problem("not_found", "There is no such link.");

function limitReached(tenant: Tenant, now: number): Problem {
  const most = tenant.limits.linksPerMonth?.toLocaleString("en");
  const next = toIso(monthEnd(now)).slice(0, 10);
  return new Problem(
    "limit_reached",
    `Your plan gives ${most} new links a month, and no more are left. New ones can be made from ${next} (UTC); the operator can raise the limit.`,
    { retryAfterSeconds: secondsToMonthEnd(now) },
  );
}

function taken(link: NewLink): Problem {
  if (link.generated) return new Problem("busy", "No free code was found. Try again.", { retryAfterSeconds: 1 });
  const message = `The code "${link.code}" is taken. Choose another, or leave it out and get a generated one.`;
  return new Problem("code_taken", message, { errors: [{ field: "code", code: "taken", message }] });
}
