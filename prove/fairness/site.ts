/** One real server with several tenants, behind a proxy that says which networks visitors are on. */
import { startDns } from "../../test/ground/dns.ts";
import { freePort } from "../../test/ground/ports.ts";
import { startPostgres } from "../../test/ground/postgres.ts";
import type { Environment } from "../../test/ground/process.ts";
import { cli, type Server, startServer } from "../../test/ground/server.ts";
import { tempFolder } from "../../test/ground/temp.ts";

export interface Site {
  readonly env: Environment;
  /** Where names below `pageZone` lead to; nothing listens there yet. */
  readonly pagePort: number;
  readonly server: Server;
  /** The attacker. */
  readonly greedy: Party;
  readonly others: readonly Party[];
  stop(): Promise<void>;
}

/** A tenant, and a network that its people are on. */
export interface Party {
  readonly key: string;
  readonly network: string;
  call(method: string, path: string, body?: unknown): Promise<Response>;
  /** As a visitor, without a key. */
  visit(path: string, init?: RequestInit): Promise<Response>;
}

export const othersCount = 4;
/** DNS never answers about names below it. */
export const silentZone = "silent.example";
/** Names below it lead to this machine. */
export const pageZone = "pages.example";
const answerMs = 15_000;

export async function startSite(database: "sqlite" | "postgres"): Promise<Site> {
  const dns = await startDns(
    (name) => (name.endsWith(pageZone) ? ["127.0.0.1"] : undefined),
    () => ["something else"],
    (name) => name.endsWith(silentZone),
  );
  const postgres = database === "postgres" ? await startPostgres({ durable: true }) : undefined;
  const dataDir = tempFolder("data");
  const pagePort = freePort();
  const env: Environment = {
    QL_DATA: dataDir,
    QL_TRUSTED_PROXIES: "127.0.0.1",
    QL_DNS_SERVERS: dns.address,
    QL_FETCH_ALLOW: "127.0.0.1",
    QL_FETCH_PORTS: `80,443,${pagePort}`,
    QL_GUESSES_PER_MINUTE: "none",
    ...(postgres && { DATABASE_URL: await postgres.createDatabase("fairness"), QL_CODE_SALT: crypto.randomUUID() }),
  };
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli(args, { env });
    if (code !== 0) throw new Error(`quicklink ${args.join(" ")} ended with ${code}\n${stdout}${stderr}`);
    return stdout.trim();
  };
  if (postgres) await run("migrate");
  const server = await startServer({ env, dataDir });

  async function party(slug: string, network: string): Promise<Party> {
    await run("tenant", "create", slug, "--plan", "unlimited");
    const key = await run("key", "create", "proof", "--tenant", slug);
    const send = (path: string, init: RequestInit) =>
      fetch(server.url + path, { redirect: "manual", signal: AbortSignal.timeout(answerMs), ...init });
    return {
      key,
      network,
      call: (method, path, body) =>
        send(path, {
          method,
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-forwarded-for": network },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      visit: (path, init = {}) => send(path, { ...init, headers: { ...init.headers, "x-forwarded-for": network } }),
    };
  }

  const greedy = await party("greedy", "203.0.113.9");
  const others: Party[] = [];
  for (let n = 0; n < othersCount; n++) others.push(await party(`other-${n}`, `198.51.100.${n + 1}`));
  return {
    env,
    pagePort,
    server,
    greedy,
    others,
    async stop() {
      await server.stop();
      await postgres?.stop();
      dns.stop();
    },
  };
}
