import { type Clock, dayMs } from "../base/clock.ts";
import { invalid, Problem } from "../base/errors.ts";
import { type LinkId, newId, type TenantId } from "../base/ids.ts";
import type { Passwords } from "../base/passwords.ts";
import type { Publish } from "../cache/feed.ts";
import type { Issuer } from "../codes/issuer.ts";
import { privateCode } from "../codes/private.ts";
import { isReserved, slugPattern } from "../codes/slugs.ts";
import { parseHost } from "../domains/domain.ts";
import { type Actor, differenceOf } from "../history/history.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { createRunSteps } from "./bulk/run-steps.ts";
import { changeFields, differingFields, type FieldChange, type LinkStep, type StepOutcome } from "./bulk/step.ts";
import { createBulk } from "./create/bulk.ts";
import type { NewLink } from "./create/new-links.ts";
import {
  changedMeanwhile,
  fileGone,
  foreignDomain,
  generatedTries,
  limitReached,
  missing,
  noFile,
  notInTrash,
  refusal,
  unknownVersion,
} from "./create/refusals.ts";
import { createAdmit } from "./destination.ts";
import { changeOf, type Link, type LinkFields, ownDomain } from "./link.ts";
import { ownerFields } from "./past/changed-fields.ts";
import type { LinkPast } from "./past/link-history.ts";
import { checkChoice } from "./routing/choice.ts";
import type { Changed, LinkStore } from "./store.ts";
import type { TrashStore } from "./trash/trash-store.ts";

/** The rules of links: what is accepted, a link's defaults, and publishing each change. */
export interface LinkChange extends Partial<LinkFields> {
  /** In plain text; it goes no further than here. Null removes it. */
  readonly password?: string | null;
}

export interface LinkInput extends LinkChange {
  readonly code?: string;
  /** One of the tenant's domains. Null: the server's own. Omitted: the tenant's default. */
  readonly domain?: string | null;
  /** Generate a code that is hard to guess. */
  readonly private?: boolean;
  /** Derived from the request: a repeated request returns the link that has it. */
  readonly id?: LinkId;
}

export interface LinkPage {
  readonly items: readonly Link[];
  readonly nextCursor: LinkId | null;
}

/** One element of a bulk request: the link, or why there is none. */
export type BulkResult = { readonly link: Link } | { readonly problem: Problem };

export interface Links {
  /** Links created on the command line do not count towards the tenant's limits. */
  create(tenant: Tenant, input: LinkInput, by: Actor): Promise<Link>;
  /** Each separately: an invalid one does not affect the others. `atomic`: all of them, or none. */
  createMany(tenant: Tenant, inputs: readonly LinkInput[], by: Actor, atomic?: boolean): Promise<BulkResult[]>;
  /** What a new link would be, by all rules except whether its code is free. Writes nothing. */
  check(tenant: Tenant, input: LinkInput): LinkFields & { readonly domain: string };
  /**
   * The same with an ID and a code, for callers that write many in their own transaction. A promise only if it takes time:
   * for a password, or for more codes.
   */
  draft(tenant: Tenant, input: LinkInput, by: Actor): NewLink | Promise<NewLink>;
  get(tenant: TenantId, id: LinkId): Promise<Link>;
  list(tenant: TenantId, limit: number, cursor?: LinkId): Promise<LinkPage>;
  /** Updates only the given fields. */
  patch(tenant: Tenant, id: LinkId, fields: LinkChange, by: Actor, expected?: number): Promise<Link>;
  /**
   * Replaces all fields; omitted ones get their default. Except the password: a client that reads a link and writes it
   * back cannot know it, and must not remove it that way.
   */
  replace(tenant: Tenant, id: LinkId, fields: LinkInput, by: Actor, expected?: number): Promise<Link>;
  /** To the trash. */
  remove(tenant: TenantId, id: LinkId, by: Actor, expected?: number): Promise<void>;
  /** Back to the fields of an older version, by the rules of an edit. The password stays. */
  undo(tenant: Tenant, id: LinkId, version: number, by: Actor, expected?: number): Promise<Link>;
  /** From the trash, by today's rules. It is suspended if it was. */
  restore(tenant: Tenant, id: LinkId, by: Actor): Promise<Link>;
  /** Many things to many links, each separately. What it changes is not published. */
  runSteps(tenant: Tenant, steps: readonly LinkStep[], by: Actor): Promise<StepOutcome[]>;
  /** What an edit would make of a link, by today's rules; throws the problem. Writes nothing. */
  tryChange(tenant: Tenant, link: Link, change: FieldChange): LinkFields;
  /** A domain as stored; any name of the server itself is accepted for its own. */
  domainOf(text: string): string;
}

export interface LinkSettings {
  readonly store: LinkStore;
  readonly trash: Pick<TrashStore, "restore">;
  /** What changed since. */
  readonly past: LinkPast;
  /** Called for a link that came back. */
  readonly restored?: (link: Link) => Promise<void>;
  readonly issuer: Issuer;
  readonly passwords: Passwords;
  readonly clock: Clock;
  /** Hosts of this server: links must not lead back to it. */
  readonly ownHosts: ReadonlySet<string>;
  /** Blocked destination hosts. */
  readonly isBlocked?: (host: string) => boolean;
  readonly defaultDays: number;
  readonly publish: Publish;
}

export function createLinks(settings: LinkSettings): Links {
  const {
    store,
    trash,
    past,
    issuer,
    passwords,
    clock,
    ownHosts,
    isBlocked = () => false,
    defaultDays,
    publish,
  } = settings;
  const admit = createAdmit(ownHosts, isBlocked);

  function prepare(tenant: Tenant, input: LinkInput): LinkFields {
    const fields = complete(input, clock.now() + defaultDays * dayMs);
    return check(tenant, fields, { has: (name) => name in input });
  }

  /** Only the given fields are validated by today's rules; the others were accepted when they were set. */
  function check(tenant: Tenant, fields: LinkFields, given: Given): LinkFields {
    const most = tenant.limits.hitsPerLinkPerMonth;
    if (given.has("hitsPerMonth") && fields.hitsPerMonth !== null && most !== null && fields.hitsPerMonth > most) {
      throw invalid("hitsPerMonth", "above_plan", `Your plan allows at most ${most} hits per link per month.`);
    }
    if (given.has("expiresAt") && fields.expiresAt !== null && fields.expiresAt <= clock.now()) {
      throw invalid("expiresAt", "in_the_past", "The expiry must be in the future. To stop a link now, disable it.");
    }
    const leadsAway = given.has("url") && fields.file === null;
    const url = leadsAway ? admit("url", fields.url) : fields.url;
    const fallbackUrl =
      given.has("fallbackUrl") && fields.fallbackUrl !== null
        ? admit("fallbackUrl", fields.fallbackUrl)
        : fields.fallbackUrl;
    const isSame = url === fields.url && fallbackUrl === fields.fallbackUrl;
    return checkChoice(isSame ? fields : { ...fields, url, fallbackUrl }, given, admit);
  }

  const newCode = async (hidden: boolean): Promise<string> => (hidden ? privateCode() : issuer.next());

  /** `undefined` if the password is not changed. */
  async function hashed(tenant: TenantId, { password }: LinkChange): Promise<{ passwordHash?: string | null }> {
    if (password === undefined || password === null) return password === null ? { passwordHash: null } : {};
    const passwordHash = await passwords.hash(password, tenant);
    if (passwordHash !== "busy") return { passwordHash };
    throw new Problem("busy", "Too many passwords are being set or checked. Try again shortly.", {
      retryAfterSeconds: 1,
    });
  }

  /** As stored: empty for any name of the server itself, including none. */
  function domainOf(text: string): string {
    if (ownHosts.has(text.trim().toLowerCase())) return ownDomain;
    const host = parseHost(text);
    if (host === undefined) throw foreignDomain(text);
    return host;
  }

  function checkNew(tenant: Tenant, input: LinkInput): LinkFields {
    const fields = prepare(tenant, input);
    if (input.code !== undefined) checkSlug(input.code);
    if (input.code !== undefined && input.private) {
      throw invalid("private", "contradiction", "A private link gets a random code. Omit either the code or private.");
    }
    return fields;
  }

  const domainFor = (tenant: Tenant, { domain = tenant.defaultDomain }: LinkInput): string =>
    domain === null ? ownDomain : domainOf(domain);

  function draft(tenant: Tenant, input: LinkInput, by: Actor): NewLink | Promise<NewLink> {
    const { code, private: hidden = false, id, password } = input;
    const fields = checkNew(tenant, input);
    const at = clock.now();
    // Each by its name: this runs for every row of an import, and a spread is slower to run and to compile.
    const link = {
      url: fields.url,
      file: fields.file,
      permanent: fields.permanent,
      status: fields.status,
      expiresAt: fields.expiresAt,
      title: fields.title,
      notes: fields.notes,
      tags: fields.tags,
      fallbackUrl: fields.fallbackUrl,
      hitsPerMonth: fields.hitsPerMonth,
      clickFacts: fields.clickFacts,
      rules: fields.rules,
      split: fields.split,
      utm: fields.utm,
      forwardQuery: fields.forwardQuery,
      domain: domainFor(tenant, input),
      id: id ?? newId("link", { now: () => at }),
      code: code ?? "",
      generated: code === undefined,
      private: hidden,
      findable: id !== undefined,
      at,
      by,
    };
    return code !== undefined && password === undefined ? link : finish(tenant.id, link, input);
  }

  /** With what takes time. */
  const finish = async (tenant: TenantId, link: NewLink, input: LinkInput): Promise<NewLink> => ({
    ...link,
    ...(await hashed(tenant, input)),
    code: input.code ?? (await newCode(link.private ?? false)),
  });

  /** Links whose generated code was taken get another one. */
  async function createDrafts(tenant: Tenant, drafts: readonly NewLink[], by: Actor): Promise<BulkResult[]> {
    const spending = by.kind === "command" ? "nothing" : tenant.limits;
    const results: BulkResult[] = [];
    let waiting = drafts.map((link, place) => ({ link, place }));
    for (let tries = 1; waiting.length > 0; tries++) {
      const created = await store.createEach(
        tenant.id,
        waiting.map(({ link }) => link),
        spending,
      );
      const again: typeof waiting = [];
      for (const [i, { link, place }] of waiting.entries()) {
        const outcome = created[i];
        if (outcome?.kind === "created") {
          results[place] = { link: outcome.link };
          publish(changeOf(outcome.link));
        } else if (outcome?.kind === "found") {
          results[place] = { link: outcome.link };
        } else if (outcome?.kind === "spent") {
          results[place] = { problem: limitReached(tenant, clock.now()) };
        } else if (outcome?.kind === "taken" && link.generated && tries < generatedTries) {
          again.push({ link: { ...link, code: await newCode(link.private ?? false) }, place });
        } else {
          results[place] = { problem: refusal(outcome ?? { kind: "taken" }, link) };
        }
      }
      waiting = again;
    }
    return results;
  }

  function publishOrThrow(outcome: Changed): Link {
    if (outcome.kind === "missing") throw missing();
    if (outcome.kind === "no_file") throw noFile();
    if (outcome.kind === "conflict") throw changedMeanwhile();
    publish(changeOf(outcome.link));
    return outcome.link;
  }

  async function restore(tenant: Tenant, id: LinkId, by: Actor): Promise<Link> {
    const checkAgain = (link: Link) => check(tenant, within(tenant, ownerFields(link)), destinations);
    const outcome = await trash.restore(tenant.id, id, checkAgain, by, clock.now());
    if (outcome.kind === "missing") throw notInTrash();
    if (outcome.kind === "no_domain") throw foreignDomain(outcome.domain);
    if (outcome.kind === "no_file") throw fileGone();
    publish(changeOf(outcome.link));
    await settings.restored?.(outcome.link);
    return outcome.link;
  }

  return {
    async create(tenant, input, by) {
      const made = input.id && (await store.get(tenant.id, input.id));
      if (made) return made;
      const [result] = await createDrafts(tenant, [await draft(tenant, input, by)], by);
      if (result === undefined) throw new Error("the store returned nothing");
      if ("problem" in result) throw result.problem;
      return result.link;
    },

    createMany: createBulk({ store, newCode, clock, publish, draft, createDrafts }),

    runSteps: createRunSteps({
      ...{ store, past, check, restore, now: clock.now },
      ...{ changeMany: store.changeMany, moveLink: store.move },
    }),

    tryChange(tenant, link, change) {
      const before = ownerFields(link);
      const after = changeFields(before, change);
      return check(tenant, after, differingFields(before, after));
    },

    check: (tenant, input) => ({ ...checkNew(tenant, input), domain: domainFor(tenant, input) }),
    draft,
    domainOf,

    async get(tenant, id) {
      return (await store.get(tenant, id)) ?? Promise.reject(missing());
    },

    async list(tenant, limit, cursor) {
      const found = await store.list(tenant, limit + 1, cursor);
      const items = found.slice(0, limit);
      return { items, nextCursor: found.length > limit ? (items.at(-1)?.id ?? null) : null };
    },

    async patch(tenant, id, fields, by, expected) {
      const { password: _, ...rest } = fields;
      const given = new Set(Object.keys(rest) as (keyof LinkFields)[]);
      const secret = await hashed(tenant.id, fields);
      const edit = (link: Link) => ({ ...check(tenant, { ...ownerFields(link), ...rest }, given), ...secret });
      return publishOrThrow(
        await store.update(tenant.id, id, { edit, file: rest.file ?? null, by }, clock.now(), expected),
      );
    },

    async replace(tenant, id, input, by, expected) {
      const fields = { ...prepare(tenant, input), ...(await hashed(tenant.id, input)) };
      const { file } = fields;
      return publishOrThrow(await store.update(tenant.id, id, { edit: () => fields, file, by }, clock.now(), expected));
    },

    async undo(tenant, id, version, by, expected) {
      for (let tries = 1; ; tries++) {
        const link = await store.get(tenant.id, id);
        if (link === undefined) throw missing();
        const fields = version === link.version ? ownerFields(link) : await past.fieldsAt(link, version);
        if (fields === undefined) throw unknownVersion(version);
        const given = differing(ownerFields(link), fields);
        // It is as it was asked for, perhaps by an earlier run of the same request.
        if (given.size === 0) return link;
        const edit = () => check(tenant, fields, given);
        const change = { edit, file: fields.file, by, undoTo: version };
        const outcome = await store.update(tenant.id, id, change, clock.now(), expected ?? link.version);
        // Unless the caller says what they have read, another edit meanwhile is one more to go back over.
        if (outcome.kind === "conflict" && expected === undefined && tries < undoTries) continue;
        return publishOrThrow(outcome);
      }
    },

    restore,

    async remove(tenant, id, by, expected) {
      publishOrThrow(await store.remove(tenant, id, by, clock.now(), expected));
    },
  };
}

type Given = Pick<ReadonlySet<keyof LinkFields>, "has">;

/** What is checked again when a link comes back: its expiry is its own. */
const destinations: ReadonlySet<keyof LinkFields> = new Set(["url", "fallbackUrl", "rules", "split"]);
const undoTries = 5;

/** The plan may allow fewer hits by now. */
function within({ limits: { hitsPerLinkPerMonth: most } }: Tenant, fields: LinkFields): LinkFields {
  const { hitsPerMonth } = fields;
  return most === null || hitsPerMonth === null ? fields : { ...fields, hitsPerMonth: Math.min(hitsPerMonth, most) };
}

const differing = (before: LinkFields, after: LinkFields): ReadonlySet<keyof LinkFields> =>
  new Set(Object.keys(differenceOf({ ...before }, { ...after })?.after ?? {}) as (keyof LinkFields)[]);

function complete(input: LinkInput, expiresAt: number): LinkFields {
  return {
    url: input.url ?? "",
    file: input.file ?? null,
    permanent: input.permanent ?? false,
    status: input.status ?? "active",
    expiresAt: input.expiresAt === undefined ? expiresAt : input.expiresAt,
    title: input.title ?? null,
    notes: input.notes ?? null,
    tags: input.tags ?? [],
    fallbackUrl: input.fallbackUrl ?? null,
    hitsPerMonth: input.hitsPerMonth ?? null,
    clickFacts: input.clickFacts ?? true,
    rules: input.rules ?? [],
    split: input.split ?? [],
    utm: input.utm ?? null,
    forwardQuery: input.forwardQuery ?? false,
  };
}

function checkSlug(code: string): void {
  if (!slugPattern.test(code)) {
    throw invalid("code", "bad_code", "Must have 3 to 64 characters: letters, digits, - and _.");
  }
  if (isReserved(code)) throw invalid("code", "reserved", `"${code}" is reserved. Choose another code.`);
}
