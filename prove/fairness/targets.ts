/**
 * Checks of destinations, which nobody waits for: one tenant has 90 links whose DNS does not answer, and four others
 * have five each to pages that do. All are due at once, those of the one tenant first. The others' must be checked
 * while most of those still wait.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { LinkId } from "../../src/base/ids.ts";
import { until } from "../../test/ground/process.ts";
import { look } from "../database.ts";
import type { Attempt } from "../proof.ts";
import { type Party, pageZone, type Site, silentZone } from "./site.ts";

export const targets = "targets_sqlite";

const greedyLinks = 90;
const otherLinks = 5;
/** A round begins within ten seconds, and lasts for half a minute if destinations do not answer. */
const checkedMs = 25_000;

export async function playTargets({ claim }: Attempt, { env, greedy, others, pagePort }: Site): Promise<void> {
  const page = createServer((_, response) => response.end("<title>A page</title>"));
  await new Promise<void>((resolve) => page.listen(pagePort, "127.0.0.1", resolve));
  const { port } = page.address() as AddressInfo;
  const slow = await create(greedy, greedyLinks, (n) => `http://n${n}.${silentZone}/`);
  const quick: LinkId[] = [];
  for (const [at, party] of others.entries())
    quick.push(...(await create(party, otherLinks, (n) => `http://p${at}-${n}.${pageZone}:${port}/`)));
  const checkedOf = (links: readonly LinkId[]) =>
    look(env, async ({ db }) => {
      const rows = db.selectFrom("targets").select("link_id").where("link_id", "in", links);
      return (await rows.where("state", "=", "ok").execute()).length;
    });
  const triedOf = (links: readonly LinkId[]) =>
    look(env, async ({ db }) => {
      const rows = db.selectFrom("targets").select("link_id").where("link_id", "in", links);
      return (await rows.where("checked_at", "is not", null).execute()).length;
    });
  try {
    await makeDue(env, [...slow, ...quick]);
    const started = performance.now();
    const all = async () => (await checkedOf(quick)) === quick.length || undefined;
    await until("the others' links to be checked", all, checkedMs).catch(() => {});
    const [checked, tried] = [await checkedOf(quick), await triedOf(slow)];
    console.log(
      `database=sqlite row=targets others=${checked}/${quick.length} attacker checked=${tried}/${slow.length} ` +
        `after_ms=${Math.round(performance.now() - started)} (${greedyLinks} links of one tenant whose DNS does not answer)`,
    );
    const said = { promise: "no tenant or network can keep the others from a shared resource", scenario: targets };
    claim({
      ...{ ...said, measure: "succeeded", times: quick.length, figure: checked / quick.length, bound: { least: 0.99 } },
      done: `${quick.length} links of others due after ${slow.length} of one tenant whose DNS does not answer`,
    });
    claim({
      ...{ ...said, measure: "felt", times: slow.length, figure: slow.length - tried, bound: { least: 10 } },
      done: `${tried} links of the attacker checked meanwhile`,
    });
  } finally {
    page.close();
  }
}

async function create(party: Party, count: number, url: (n: number) => string): Promise<LinkId[]> {
  const links = Array.from({ length: count }, (_, n) => ({ url: url(n) }));
  const response = await party.call("POST", "/api/links/bulk", { links });
  const { results } = (await response.json()) as { results: { link?: { id: LinkId } }[] };
  const ids = results.flatMap(({ link }) => (link === undefined ? [] : [link.id]));
  if (ids.length !== count) throw new Error(`${ids.length} of ${count} links were created`);
  return ids;
}

/** In this order, and at once: a round takes all or none of them. */
async function makeDue(env: Site["env"], links: readonly LinkId[]): Promise<void> {
  const unknown = { url_hash: null, state: null, http_status: null, reason: null, checked_at: null, failures: 0 };
  const rows = links.map((link_id, n) => ({ ...unknown, link_id, wants_title: 1 as const, next_check_at: n + 1 }));
  await look(env, (sql) =>
    sql.transaction(async (trx) => void (await trx.insertInto("targets").values(rows).execute())),
  );
}
