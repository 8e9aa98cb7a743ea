import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { type HistoryId, type LinkId, newId } from "../../base/ids.ts";
import type { Publish } from "../../cache/feed.ts";
import type { Actor } from "../../history/history.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import { cacheKey, changeOf } from "../link.ts";
import type { BulkResult, LinkInput, Links } from "../links.ts";
import type { LinkStore } from "../store.ts";
import type { NewLink } from "./new-links.ts";
import { generatedTries, limitReached, notMade, refusal, twice } from "./refusals.ts";

/** Many links in one request: each separately in short transactions, or all of them in one. */
export interface BulkParts {
  readonly store: LinkStore;
  readonly newCode: (hidden: boolean) => Promise<string>;
  readonly clock: Clock;
  readonly publish: Publish;
  readonly draft: Links["draft"];
  readonly createDrafts: (tenant: Tenant, drafts: readonly NewLink[], by: Actor) => Promise<BulkResult[]>;
}

const batchRows = 100; // short transactions: another writer waits for at most one of them

export function createBulk({ store, newCode, clock, publish, draft, createDrafts }: BulkParts): Links["createMany"] {
  /** By index: links to be created, and results already known. `codes`: codes used in this request. */
  async function draftMany(tenant: Tenant, inputs: readonly LinkInput[], codes: Set<string>, { by, request }: Asker) {
    const made = await store.byIds(tenant.id, idsOf(inputs));
    const drafts = new Map<number, NewLink>();
    const results = new Map<number, BulkResult>();
    for (const [i, input] of inputs.entries()) {
      const link = input.id && made.get(input.id);
      if (link) results.set(i, { link });
      try {
        const one = link || { ...(await draft(tenant, input, by)), request };
        const key = cacheKey(one.domain, one.code);
        const again = input.code !== undefined && codes.has(key);
        if (again) results.set(i, { problem: twice(one.code) });
        else if ("generated" in one) drafts.set(i, one);
        codes.add(key);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        results.set(i, { problem: error });
      }
    }
    return { drafts, results };
  }

  /** In one transaction. */
  async function createAll(tenant: Tenant, inputs: readonly LinkInput[], asker: Asker): Promise<BulkResult[]> {
    const { drafts, results } = await draftMany(tenant, inputs, new Set(), asker);
    const spending = asker.by.kind === "command" ? "nothing" : tenant.limits;
    const refused = (problems: ReadonlyMap<number, Problem>) =>
      inputs.map((_, i): BulkResult => ({ problem: problems.get(i) ?? notMade() }));
    const problems = new Map([...results].flatMap(([i, result]) => ("problem" in result ? [[i, result.problem]] : [])));
    if (problems.size > 0) return refused(problems);
    for (let tries = 1; drafts.size > 0; tries++) {
      const outcome = await store.createAll(tenant.id, [...drafts.values()], spending);
      if (outcome.kind === "spent") return inputs.map(() => ({ problem: limitReached(tenant, clock.now()) }));
      const places = [...drafts];
      if (outcome.kind === "created") {
        for (const [n, [i]] of places.entries()) {
          const link = outcome.links[n];
          if (link === undefined) throw new Error("fewer links than were asked for");
          results.set(i, { link });
          publish(changeOf(link));
        }
        break;
      }
      const gone = places.flatMap(([i, link], n) => {
        const why = outcome.refused.get(n);
        return why === undefined ? [] : [{ i, link, why }];
      });
      const lost = gone.filter(({ link, why }) => why.kind !== "taken" || !link.generated || tries === generatedTries);
      if (lost.length > 0) return refused(new Map(lost.map(({ i, link, why }) => [i, refusal(why, link)])));
      for (const { i, link } of gone) drafts.set(i, { ...link, code: await newCode(link.private ?? false) });
    }
    return inputs.map((_, i) => results.get(i) ?? { problem: notMade() });
  }

  return async (tenant, inputs, by, atomic = false) => {
    const asker = { by, request: requestOf(inputs, clock) };
    if (atomic) return createAll(tenant, inputs, asker);
    const results: BulkResult[] = [];
    const codes = new Set<string>();
    for (let start = 0; start < inputs.length; start += batchRows) {
      const batch = await draftMany(tenant, inputs.slice(start, start + batchRows), codes, asker);
      const created = await createDrafts(tenant, [...batch.drafts.values()], by);
      for (const [i, result] of batch.results) results[start + i] = result;
      for (const [n, i] of [...batch.drafts.keys()].entries()) {
        const result = created[n];
        if (result) results[start + i] = result;
      }
    }
    return results;
  };
}

interface Asker {
  readonly by: Actor;
  /** The row of this request in the history. */
  readonly request: HistoryId;
}

/** A request that runs again after a crash, whose links have IDs, adds to the row of its first run. */
const requestOf = ([first]: readonly LinkInput[], clock: Clock): HistoryId =>
  first?.id === undefined ? newId("history", clock) : (`his_${first.id.slice("lnk_".length)}` as HistoryId);

const idsOf = (inputs: readonly LinkInput[]): LinkId[] => inputs.flatMap(({ id }) => id ?? []);
