import { randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { invalid, Problem } from "../base/errors.ts";
import type { TenantId } from "../base/ids.ts";
import type { Shares } from "../base/shares.ts";
import type { Publish } from "../cache/feed.ts";
import type { Actor } from "../history/history.ts";
import { createAdmit } from "../links/destination.ts";
import type { TrashStore } from "../links/trash/trash-store.ts";
import { type Domain, parseHost, tokenName, tokenPath, tokenText } from "./domain.ts";
import type { ChangedDomain, DomainFields, DomainStore } from "./store.ts";
import type { Evidence } from "./verify.ts";

/**
 * The rules of custom domains. Anyone can claim a domain; to verify the claim, its owner publishes a token unique to
 * it, in DNS or as a file. A domain that already points here cannot serve the file, so DNS alone decides.
 *
 * A domain passes to another tenant only after its links were deleted and its owner removed it. Otherwise published
 * links would lead to another owner's destinations.
 */
export interface Domains {
  /**
   * `chance`: for a request that may run again, the random bytes of its token, which identify the claim of an earlier
   * run.
   */
  add(tenant: TenantId, host: string, by: Actor, chance?: Uint8Array): Promise<Domain>;
  list: DomainStore["list"];
  get(tenant: TenantId, host: string): Promise<Domain>;
  verify(tenant: TenantId, host: string, by: Actor): Promise<Domain>;
  change(tenant: TenantId, host: string, fields: DomainFields, by: Actor): Promise<Domain>;
  remove(tenant: TenantId, host: string, by: Actor): Promise<void>;
}

export interface DomainSettings {
  readonly store: DomainStore;
  readonly trash: Pick<TrashStore, "eraseSome">;
  readonly evidence: Evidence;
  /** Verification contacts servers that tenants name. */
  readonly outgoing: Shares;
  readonly ownHosts: ReadonlySet<string>;
  /** Blocked destination hosts. */
  readonly isBlocked?: (host: string) => boolean;
  readonly clock: Clock;
  readonly publish: Publish;
}

export const domainsMost = 100;
const tokenBytes = 18;
const trashRows = 100;
const trashSteps = 100;

export function createDomains(settings: DomainSettings): Domains {
  const { store, trash, evidence, outgoing, ownHosts, isBlocked = () => false, clock, publish } = settings;
  const admit = createAdmit(ownHosts, isBlocked);

  const missing = () => new Problem("not_found", "No such domain. Add it first: POST /api/domains.");

  async function get(tenant: TenantId, host: string): Promise<Domain> {
    const domain = await store.get(tenant, parseHost(host) ?? "");
    if (!domain) throw missing();
    return domain;
  }

  /** Its deleted links go with it, in short transactions: another writer waits for at most one of them. */
  async function removeWithTrash(tenant: TenantId, host: string, by: Actor) {
    for (let steps = 0; steps < trashSteps; steps++) {
      const outcome = await store.remove(tenant, host, by, clock.now());
      if (outcome !== "trash") return outcome;
      await trash.eraseSome(tenant, trashRows, by, clock.now(), host);
    }
    const detail = `${host} still has deleted links in the trash; ${(trashSteps * trashRows).toLocaleString("en")} of them were deleted for good. Send the request again.`;
    throw new Problem("busy", detail, { retryAfterSeconds: 1 });
  }

  function published({ domain, changes }: ChangedDomain): Domain {
    for (const change of changes) publish(change);
    return domain;
  }

  return {
    get,
    list: store.list,

    async add(tenant, text, by, chance = randomBytes(tokenBytes)) {
      const host = parseHost(text);
      if (host === undefined) {
        throw invalid(
          "host",
          "bad_host",
          "Must be a host name, such as links.example.com, without https:// and without a path.",
        );
      }
      if ([...ownHosts].some((own) => own === host || own.startsWith(`${host}:`))) {
        throw invalid("host", "own_host", "This is the server's own host; links can already be created on it.");
      }
      const token = Buffer.from(chance.subarray(0, tokenBytes)).toString("base64url");
      const made = await store.get(tenant, host);
      if (made?.token === token) return made;
      const domain: Domain = {
        tenantId: tenant,
        host,
        state: "pending",
        token,
        isDefault: false,
        rootUrl: null,
        missingUrl: null,
        rootBlocked: false,
        missingBlocked: false,
        createdAt: clock.now(),
        verifiedAt: null,
      };
      const outcome = await store.add(domain, domainsMost, by);
      if (outcome === "full") {
        throw new Problem(
          "collection_full",
          `A workspace can have at most ${domainsMost} domains. Remove one you do not use.`,
        );
      }
      if (outcome === "exists") {
        throw new Problem(
          "name_taken",
          `You have already added ${host}. To verify it: POST /api/domains/${host}/verify.`,
        );
      }
      return domain;
    },

    async verify(tenant, text, by) {
      const domain = await get(tenant, text);
      if (domain.state === "verified") return domain;
      const { host, token } = domain;
      if (!(await outgoing.run(tenant, () => evidence.shows(host, tokenText(token))))) {
        throw new Problem(
          "domain_unproven",
          `Neither the TXT record ${tokenName(host)} nor http://${host}${tokenPath} contains ${tokenText(token)}. Publish one of them and try again; DNS changes can take some minutes.`,
        );
      }
      const outcome = await store.verify(tenant, host, by, clock.now());
      if (outcome === undefined) throw missing();
      if (outcome === "taken") {
        throw new Problem(
          "domain_taken",
          `${host} belongs to another workspace. You can verify it once that workspace has deleted its links and removed the domain.`,
        );
      }
      return published(outcome);
    },

    async change(tenant, text, fields, by) {
      const domain = await get(tenant, text);
      if (fields.isDefault === true && domain.state !== "verified") {
        throw invalid("isDefault", "unverified", "Only a verified domain can be the default.");
      }
      const outcome = await store.change(
        tenant,
        domain.host,
        {
          ...fields,
          ...(typeof fields.rootUrl === "string" && { rootUrl: admit("rootUrl", fields.rootUrl) }),
          ...(typeof fields.missingUrl === "string" && {
            missingUrl: admit("missingUrl", fields.missingUrl),
          }),
        },
        by,
        clock.now(),
      );
      if (!outcome) throw missing();
      return published(outcome);
    },

    async remove(tenant, text, by) {
      const { host } = await get(tenant, text);
      const outcome = await removeWithTrash(tenant, host, by);
      if (outcome === "missing") throw missing();
      if ("links" in outcome) {
        throw new Problem(
          "domain_in_use",
          `${host} has ${outcome.links.toLocaleString("en")} links. Delete them first, so that published links never lead to another owner's destinations.`,
        );
      }
      published(outcome);
    },
  };
}
