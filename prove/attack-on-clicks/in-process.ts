/** The same attack on the program's own capture and writer, without a network. */
import { systemClock } from "../../src/base/clock.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import type { ClickTarget, LinkKey } from "../../src/links/link.ts";
import { createBots } from "../../src/redirect/bots.ts";
import { createAgents } from "../../src/redirect/user-agents.ts";
import type { VisitRequest } from "../../src/redirect/visit-request.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import type { Environment } from "../../test/ground/process.ts";
import { openUnderTest } from "../clicks/later.ts";
import { load } from "../source.ts";
import { residentBytes } from "./rows.ts";
import { attackOf } from "./values.ts";

const clicksAtOnce = 2_000;
const secret = new Uint8Array(32).fill(9);
/** Addresses of the attack on a server are others. */
const placesFrom = 1_000_000;

export async function attackInProcess(env: Environment, code: string, requests: number) {
  const { createCapture } = await load<typeof import("../../src/clicks/facts/capture.ts")>("clicks/facts/capture.ts");
  const { recordedLink } = await load<typeof import("../../src/clicks/facts/columns.ts")>("clicks/facts/columns.ts");
  const { createFacts } = await load<typeof import("../../src/clicks/facts/facts.ts")>("clicks/facts/facts.ts");
  const { createVisitorHash } =
    await load<typeof import("../../src/clicks/facts/visitor-hash.ts")>("clicks/facts/visitor-hash.ts");
  const { createClickWriter } =
    await load<typeof import("../../src/clicks/events/writer.ts")>("clicks/events/writer.ts");
  const { createBotKinds } =
    await load<typeof import("../../src/clicks/facts/bot-kinds.ts")>("clicks/facts/bot-kinds.ts");
  const sql = await openUnderTest(env);
  const started = performance.now();
  const resident = residentBytes(process.pid);
  try {
    const row = await acrossTenants(sql.db)
      .selectFrom("links")
      .innerJoin("tenants", "tenants.id", "links.tenant_id")
      .select(["links.number as link", "tenants.number as tenant"])
      .where("links.code", "=", code)
      .executeTakeFirstOrThrow();
    const target = recordedLink({
      link: row.link,
      tenant: row.tenant,
      facts: true,
      tags: [],
    } as unknown as ClickTarget);
    const visits = new WeakMap<VisitRequest, { query: string; address: string }>();
    const capture = createCapture({
      readFacts: createFacts({
        agentOf: createAgents(),
        botKindOf: createBotKinds(createBots()),
        places: { isReady: true, of: () => ({ country: "DE", region: "", city: "" }) },
        hash: createVisitorHash(secret),
        ownHosts: new Set(),
      }),
      visitOf: (request) => {
        const { query = "", address = "" } = visits.get(request) ?? {};
        return { headers: request.headers, query, address, country: undefined };
      },
      clock: systemClock,
      metrics: createMetrics(),
    });
    const writer = createClickWriter({ sql, secret, writerId: "attack" });
    let sequence = 0;
    for (let place = 0; place < requests; place++) {
      const { query, headers, address } = attackOf(placesFrom + place);
      const url = `http://127.0.0.1/${code}?${query}`;
      const request = { headers: headersOf(headers), url } as Request;
      visits.set(request, { query, address });
      capture.record(request, code as LinkKey, target, 0, "", "https://example.com/");
      if (place % clicksAtOnce === clicksAtOnce - 1 || place === requests - 1) {
        for (let batch = capture.drain(clicksAtOnce); batch !== undefined; batch = capture.drain(clicksAtOnce)) {
          await writer.write(++sequence, batch);
        }
      }
    }
    Bun.gc(true);
    return {
      seconds: (performance.now() - started) / 1_000,
      memory: residentBytes(process.pid) - resident,
    };
  } finally {
    await sql.close();
  }
}

const headersOf = (lines: string): Headers =>
  new Headers(
    lines
      .trimEnd()
      .split("\r\n")
      .map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );
