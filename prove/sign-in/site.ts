/** Servers that people sign in to: one on SQLite, or two on PostgreSQL and Redis, behind a proxy that names the address. */
import { randomInt } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import PostalMime from "postal-mime";
import { newKey, writeKeys } from "../../src/base/seal.ts";
import { periodMs } from "../../src/people/factors/totp.ts";
import { type Reply, type Site, siteOf } from "../../test/e2e/servers.ts";
import { type Browser, makePerson, openBrowser, type TestPerson } from "../../test/ground/people.ts";
import { startPostgres } from "../../test/ground/postgres.ts";
import { type Environment, until } from "../../test/ground/process.ts";
import { startRedis } from "../../test/ground/redis.ts";
import { cli, startServer } from "../../test/ground/server.ts";
import { startSmtp } from "../../test/ground/smtp.ts";
import { tempFolder } from "../../test/ground/temp.ts";

export type Mode = "embedded" | "scaled";

export interface SignInSite {
  readonly servers: number;
  newPerson(): Promise<TestPerson>;
  /** Their app is set up, and the code of now was not used. */
  newPersonWithApp(): Promise<PersonWithApp>;
  /** A browser that asks one server after the other. */
  browser(): Browser;
  /** A request of somebody at this address, without cookies. */
  ask(address: string, path: string, body: unknown): Promise<Reply>;
  /** The tokens that were mailed to an address, oldest first, once there are so many. */
  tokensFor(address: string, count: number): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export interface PersonWithApp {
  readonly email: string;
  readonly recoveryCodes: readonly string[];
  rightCode(): string;
  /** Six digits that are no code of these minutes. */
  wrongCode(): string;
}

export const password = "violet kettle 42 march";
const baseUrl = "http://go.quicklink.test";

export async function startSignInSite(mode: Mode): Promise<SignInSite> {
  const smtp = await startSmtp();
  const common = { SMTP_URL: smtp.url, QL_TRUSTED_PROXIES: "127.0.0.1", QL_BASE_URL: baseUrl };
  const { env: own, stop: stopStores } = await storesFor(mode);
  const env: Environment = { QL_DATA: tempFolder("data"), ...common, ...own };
  const servers = [await startServer({ env })];
  if (mode === "scaled") servers.push(await startServer({ env, key: "of the first" }));
  const sites: readonly Site[] = servers.map((server) => siteOf(server, env));
  const [first] = sites;
  if (first === undefined) throw new Error("no server was started");
  let asked = 0;
  const next = (): Site => sites[asked++ % sites.length] ?? first;

  return {
    servers: servers.length,
    newPerson: () => makePerson(first, { password }),
    newPersonWithApp: async () => withApp(await makePerson(first, { password })),
    browser() {
      const { cookies } = openBrowser(first);
      const call: Browser["call"] = async (...given) => {
        const one = openBrowser(next());
        for (const [name, value] of cookies) one.cookies.set(name, value);
        const reply = await one.call(...given);
        cookies.clear();
        for (const [name, value] of one.cookies) cookies.set(name, value);
        return reply;
      };
      return { cookies, call };
    },
    ask: (address, path, body) =>
      openBrowser(next()).call("POST", path, { body, headers: { "x-forwarded-for": address } }),
    async tokensFor(address, count) {
      return await until(`${count} links`, async () => {
        const mails = smtp.taken.filter(({ to }) => to === address);
        const texts = await Promise.all(mails.map(async ({ raw }) => (await PostalMime.parse(raw)).text ?? ""));
        const found = texts.flatMap((text) => /\/app\/reset#([\w-]{43})/.exec(text)?.[1] ?? []);
        return found.length >= count ? found : undefined;
      });
    },
    async stop() {
      for (const server of servers) await server.stop();
      await stopStores();
      await smtp.stop();
    },
  };
}

async function withApp(person: TestPerson): Promise<PersonWithApp> {
  const { secret } = (await person.call("POST", "/api/account/totp", { body: { password } })).json<{
    secret: string;
  }>();
  const app = new TOTP({ secret: Secret.fromBase32(secret) });
  const codeAt = (steps: number) => app.generate({ timestamp: Date.now() + steps * periodMs });
  const body = { code: codeAt(-1) };
  const confirmed = await person.call("POST", "/api/account/totp/confirm", { body });
  if (confirmed.status !== 200) throw new Error(`the app was not confirmed: ${confirmed.text}`);
  return {
    ...{ email: person.email, ...confirmed.json<{ recoveryCodes: string[] }>() },
    rightCode: () => codeAt(0),
    wrongCode() {
      const right = Array.from({ length: 20 }, (_, i) => codeAt(i - 5));
      for (;;) {
        const code = String(randomInt(1_000_000)).padStart(6, "0");
        if (!right.includes(code)) return code;
      }
    },
  };
}

async function storesFor(mode: Mode): Promise<{ env: Environment; stop(): Promise<void> }> {
  if (mode === "embedded") return { env: {}, async stop() {} };
  const [postgres, redis] = [await startPostgres(), await startRedis()];
  const env: Environment = {
    ...{
      DATABASE_URL: await postgres.createDatabase("sign_in"),
      REDIS_URL: redis.url,
      QL_CODE_SALT: crypto.randomUUID(),
    },
    ...{ QL_REDIS_WAIT_MS: "1000", QL_SQL_WAIT_MS: "2000", QL_SECRET_KEYS: writeKeys([newKey()]) },
  };
  const migrated = await cli(["migrate"], { env });
  if (migrated.code !== 0) throw new Error(`migrate ended with ${migrated.code}\n${migrated.stderr}`);
  return {
    env,
    async stop() {
      await redis.stop();
      await postgres.stop();
    },
  };
}
