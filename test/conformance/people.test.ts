import { beforeAll, describe, expect, test } from "bun:test";
import { dayMs, type ManualClock, manualClock } from "../../src/base/clock.ts";
import { Problem } from "../../src/base/errors.ts";
import type { PersonId } from "../../src/base/ids.ts";
import { createSigningKeys } from "../../src/base/signature.ts";
import { createCache } from "../../src/cache/cache.ts";
import { uncounted } from "../../src/cache/hit-counts.ts";
import { createSessionCookie } from "../../src/http/session-cookie.ts";
import { accessSource, type PersonAccess, sizeOfAccess } from "../../src/people/access.ts";
import { createKnownDevices } from "../../src/people/factors/known-devices.ts";
import { createPasskeyRows } from "../../src/people/factors/passkey-rows.ts";
import { createRecoveryCodes } from "../../src/people/factors/recovery-codes.ts";
import { createSecondFactors } from "../../src/people/factors/second-factors.ts";
import { createSecondStep } from "../../src/people/factors/second-step.ts";
import { createPeople, type NewPerson, type People } from "../../src/people/people.ts";
import { prunePeople } from "../../src/people/prune.ts";
import {
  createSessions,
  lastingIdleMs,
  lastingMs,
  type Sessions,
  shortIdleMs,
  shortMs,
} from "../../src/people/sessions.ts";
import { noCompanyDomains } from "../../src/people/sign-in/company-domains.ts";
import { createFinish, type FinishSignIn, type SignInProof } from "../../src/people/sign-in/finish.ts";
import { createKnownBrowsers } from "../../src/people/sign-in/known-browsers.ts";
import type { RefusedSignIn } from "../../src/people/sign-in/refused-sign-ins.ts";
import { createSetUp, setUpMs } from "../../src/people/sign-in/setup.ts";
import { createSignIn } from "../../src/people/sign-in/sign-in.ts";
import { createPersonTokens, type PersonTokens, tokensMost } from "../../src/people/tokens.ts";
import { createAgents } from "../../src/redirect/user-agents.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { onEachDatabase } from "./databases.ts";
import { twinPerson } from "./two-tenants.ts";

const byCommand = { kind: "command" } as const;
const start = Date.UTC(2026, 10, 17, 9);
const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0";

interface World {
  readonly sql: Sql;
  readonly clock: ManualClock;
  readonly people: People;
  readonly sessions: Sessions;
  readonly tokens: PersonTokens;
  readonly finish: FinishSignIn;
  readonly told: PersonId[];
  readonly refusals: RefusedSignIn[];
}

function worldOn(sql: Sql): World {
  const clock = manualClock(start);
  const access = createCache<PersonAccess, PersonId>({
    ...{ source: accessSource(sql), clock, counts: uncounted(), sizeBytes: 1e6, sizeOf: sizeOfAccess },
    wait: { redis: 1_000, sql: 5_000 },
  });
  const sessions = createSessions({
    ...{ sql, clock, access },
    publish(change) {
      if (change.kind === "session") access.announce(change.key as PersonId, change.version);
    },
  });
  const tokens = createPersonTokens(clock);
  const people = createPeople({ sql, clock, sessions, tokens });
  const signer = createSigningKeys([{ id: "k", key: Buffer.from("a key for tests of people") }], clock).signerFor("x");
  const told: PersonId[] = [];
  const refusals: RefusedSignIn[] = [];
  const finish = createFinish({
    ...{ sql, clock, sessions, agentOf: createAgents(), cookie: createSessionCookie("https://go.example.com") },
    browsers: createKnownBrowsers(createSessionCookie("https://go.example.com", "browser"), signer, clock),
    refused: { note: (refusal) => void refusals.push(refusal) },
    newBrowser: async (id) => void told.push(id),
  });
  return { sql, clock, people, sessions, tokens, finish, told, refusals };
}

const codeOf = (error: unknown) => (error instanceof Problem ? error.code : String(error));

onEachDatabase(({ open }) => {
  let world: World;
  let names = 0;

  beforeAll(async () => {
    world = worldOn(await open());
  });

  const newPerson = (more: Partial<NewPerson> = {}): NewPerson => ({
    ...{ email: `Person${++names}@example.com`, name: "Ann", passwordHash: "hash", isVerified: true, ...more },
  });
  const create = ({ sql, people }: World, more: Partial<NewPerson> = {}) =>
    sql.transaction((trx) => people.createIn(trx, newPerson(more), byCommand));
  const versionOf = async ({ sql }: World, id: PersonId) =>
    (await sql.db.selectFrom("versions").select("version").where("key", "=", id).executeTakeFirst())?.version ?? 0;
  const request = (cookie = "") =>
    new Request("https://go.example.com/", { headers: { "user-agent": firefox, ...(cookie && { cookie }) } });
  const signIn = (on: World, person: PersonId, more: Partial<SignInProof> = {}) =>
    on.finish({ person, method: "password", isLasting: false, request: request(), ...more });
  const cookieOf = (cookies: readonly string[]) => cookies.map((one) => one.split(";")[0]).join("; ");
  const tokenOf = (cookies: readonly string[]) => /session=([^;]+)/.exec(cookies[0] ?? "")?.[1] ?? "";

  describe("what was asked for before", () => {
    test("the old password starts no session after a change that overtook its check, nor asks for a code", async () => {
      for (const hasApp of [false, true]) {
        const { sql, clock, people, tokens, finish, refusals } = world;
        const id = await create(world);
        if (hasApp) await sql.db.updateTable("people").set({ totp: "sealed" }).where("id", "=", id).execute();
        const secondFactor = createSecondStep({
          ...{
            sql,
            tokens,
            finish,
            refused: { note() {} },
            cookie: createSessionCookie("https://go.example.com", "d"),
          },
          codes: { spend: () => Promise.reject(new Error("no code is asked for")) },
          ...{ devices: createKnownDevices(sql, clock), deviceOf: () => "Firefox" },
        });
        let isOvertaken = true;
        const signing = createSignIn({
          ...{ people, secondFactor, finish, companies: noCompanyDomains },
          passwords: {
            hash: () => Promise.reject(new Error("nothing is hashed")),
            async matches() {
              if (isOvertaken) await people.change(id, { passwordHash: "another" }, byCommand);
              return true;
            },
          },
          attempts: { begin: async () => ({ kind: "granted", right: async () => {}, undo: async () => {} }) },
          browsers: { nameFor: () => undefined, remember: () => "" },
          refused: { note: (refusal) => void refusals.push(refusal) },
        });
        const email = (await people.byId(id))?.person.email ?? "";
        const given = { email, password: "the old one", isLasting: false, request: request(), address: undefined };
        expect(codeOf(await signing.withPassword(given).catch((error) => error))).toBe("sign_in_failed");
        const left = sql.db.selectFrom("person_tokens").select("hash").where("person_id", "=", id);
        expect([await world.sessions.list(id), await left.execute()]).toEqual([[], []]);
        isOvertaken = false;
        expect((await signing.withPassword(given)).kind).toBe(hasApp ? "second_factor" : "signed_in");
      }
    });

    test("a passkey is not added in a session that was ended meanwhile", async () => {
      const { sql, clock, people, sessions } = world;
      const id = await create(world);
      const [ended, other] = [await signIn(world, id), await signIn(world, id)];
      const passkeys = createPasskeyRows(sql.db, clock);
      const factors = createSecondFactors({
        ...{ sql, clock, sessions, people, passkeys, totp: undefined, tell: async () => {} },
        recoveryCodes: createRecoveryCodes(sql, clock),
      });
      const passkey = { id: `passkey-of-${id}`, public_key: "key", counter: 0, transports: "[]" };
      await sessions.end(id, { only: ended.session.id });
      expect(codeOf(await factors.addPasskey(ended.session, passkey, "mine").catch((error) => error))).toBe(
        "unauthorized",
      );
      expect(await passkeys.list(id)).toEqual([]);
      expect((await factors.addPasskey(other.session, passkey, "mine")).name).toBe("mine");
      expect(codeOf(await factors.removePasskey(ended.session, passkey.id).catch((error) => error))).toBe(
        "unauthorized",
      );
    });
  });

  describe("accounts", () => {
    test("a mailbox has one account, also when two are created at the same time", async () => {
      const spellings = ["Ann@bücher.example", "ANN@xn--bcher-kva.example", "ａｎｎ@BÜCHER.example"];
      const results = await Promise.allSettled(spellings.map((email) => create(world, { email })));
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const result of results) if (result.status === "rejected") expect(codeOf(result.reason)).toBe("email_taken");
      const found = await Promise.all(spellings.map((email) => world.people.byEmail(email)));
      expect(new Set(found.map((account) => account?.person.id)).size).toBe(1);
      expect(await world.people.byEmail("ann@bucher.example")).toBeUndefined();
      expect(await world.people.byEmail("no address")).toBeUndefined();
    });

    test("a change is seen, raises the version once and is a row of history without secrets", async () => {
      const { people, sql } = world;
      const id = await create(world);
      const before = await versionOf(world, id);
      world.clock.advance(1);
      const { person } = await people.change(id, { name: "Bob", passwordHash: "very secret" }, byCommand);
      expect([person.name, person.hasPassword]).toEqual(["Bob", true]);
      expect(await versionOf(world, id)).toBe(before + 1);
      const history = await ofTenant(sql.db, "")
        .selectFrom("history")
        .select(["before_change", "after_change"])
        .where("subject_id", "=", id)
        .orderBy("id")
        .execute();
      expect(history.at(-1)).toMatchObject({
        before_change: '{"name":"Ann"}',
        after_change: '{"name":"Bob","password":"changed"}',
      });
      expect(JSON.stringify(history)).not.toContain("secret");
    });

    test("a new address is not verified unless it says so, and cannot be somebody else's", async () => {
      const { people } = world;
      const [one, other] = [await create(world), await create(world, { email: "taken@example.com" })];
      expect((await people.change(one, { email: "other@example.com" }, byCommand)).person.isVerified).toBe(false);
      const taken = people.change(one, { email: "TAKEN@example.com" }, byCommand).catch(codeOf);
      expect(await taken).toBe("email_taken");
      expect((await people.byId(other))?.person.email).toBe("taken@example.com");
      expect((await people.change(one, { isVerified: true }, byCommand)).person.isVerified).toBe(true);
    });

    test("disabling ends sessions and links at once; enabled again, a person signs in as before", async () => {
      const { people, sessions, tokens, sql } = world;
      const id = await create(world);
      const { cookies } = await signIn(world, id);
      const link = await tokens.issue(sql.db, { kind: "reset", person: id, lifeMs: 1_000 });
      expect((await sessions.authenticate(tokenOf(cookies)))?.person.id).toBe(id);
      await people.setDisabled(id, true, byCommand);
      expect(await sessions.authenticate(tokenOf(cookies))).toBeUndefined();
      expect(await tokens.peek(sql.db, "reset", link)).toBeUndefined();
      world.refusals.length = 0;
      expect(codeOf(await signIn(world, id, { method: "oidc" }).catch((error) => error))).toBe("sign_in_failed");
      expect(world.refusals).toEqual([{ person: id, method: "oidc", reason: "disabled" }]);
      await people.setDisabled(id, false, byCommand);
      expect(await sessions.authenticate(tokenOf(cookies))).toBeUndefined();
      expect((await signIn(world, id)).session.personId).toBe(id);
    });

    test("they are listed in pages, oldest first", async () => {
      const here = worldOn(await open());
      const ids: PersonId[] = [];
      for (let i = 0; i < 5; i++) {
        ids.push(await create(here));
        here.clock.advance(1);
      }
      const first = await here.people.list(3);
      const rest = await here.people.list(3, first.at(-1)?.person.id);
      expect([...first, ...rest].map(({ person }) => person.id)).toEqual(ids);
    });

    test("changes of one account at the same time take turns without a deadlock", async () => {
      const { people, sessions, tokens, sql } = world;
      const id = await create(world);
      const work = Array.from({ length: 24 }, async (_, i) => {
        if (i % 4 === 0) return void (await signIn(world, id));
        if (i % 4 === 1) return void (await people.change(id, { passwordHash: `h${i}` }, byCommand));
        if (i % 4 === 2) return void (await sessions.end(id, "all"));
        const link = await tokens.issue(sql.db, { kind: "reset", person: id, lifeMs: 1_000 });
        await sql.transaction(async (trx) => {
          await people.lock(trx, id);
          await tokens.use(trx, "reset", link);
          await sessions.touch(trx, [id]);
          await sessions.endIn(trx, id, "all");
        });
      });
      expect((await Promise.allSettled(work)).filter(({ status }) => status === "rejected")).toEqual([]);
    });
  });

  describe("tokens", () => {
    test("a token works once, for its kind, until its end; of two at the same time one gets it", async () => {
      const { tokens, sql, clock } = world;
      const person = await create(world);
      const issue = () => tokens.issue(sql.db, { kind: "reset", person, data: { a: 1 }, lifeMs: 1_000 });
      const use = (token: string) => sql.transaction((trx) => tokens.use(trx, "reset", token));
      const token = await issue();
      expect(token).toMatch(/^[\w-]{43}$/);
      expect(await sql.transaction((trx) => tokens.use(trx, "email", token))).toBeUndefined();
      expect(await tokens.peek(sql.db, "reset", token)).toEqual({ person, data: { a: 1 } });
      const both = await Promise.all([use(token), use(token)]);
      expect(both.filter(Boolean)).toEqual([{ person, data: { a: 1 } }]);
      expect(await use(token)).toBeUndefined();
      const late = await issue();
      clock.advance(1_000);
      expect([await tokens.peek(sql.db, "reset", late), await use(late)]).toEqual([undefined, undefined]);
      const rows = await sql.db.selectFrom("person_tokens").selectAll().execute();
      expect(JSON.stringify(rows)).not.toContain(late);
      for (const bad of ["", "x", `${token}=`, "'".repeat(43)]) expect(await use(bad)).toBeUndefined();
    });

    test("more requests do not void an earlier link, until there are very many", async () => {
      const { tokens, sql, clock } = world;
      const person = await create(world);
      const all: string[] = [];
      for (let i = 0; i <= tokensMost; i++) {
        all.push(await tokens.issue(sql.db, { kind: "reset", person, lifeMs: 60_000 }));
        clock.advance(1);
      }
      const valid = await Promise.all(all.map(async (one) => (await tokens.peek(sql.db, "reset", one)) !== undefined));
      expect(valid).toEqual([false, ...new Array<boolean>(tokensMost).fill(true)]);
    });
  });

  describe("the end of a sign-in", () => {
    test("gives a session with its device, and remembers the browser", async () => {
      const { sessions, told } = world;
      const id = await create(world);
      const { session, cookies } = await signIn(world, id);
      expect(session).toMatchObject({ device: "Firefox on Linux", method: "password", idleMs: shortIdleMs });
      expect(session.expiresAt - session.createdAt).toBe(shortMs);
      expect(cookies[0]).toMatch(/^__Host-quicklink-session=.*; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
      expect(told.filter((one) => one === id)).toHaveLength(1);
      const again = await signIn(world, id, { request: request(cookieOf(cookies)), isLasting: true });
      expect(told.filter((one) => one === id)).toHaveLength(1);
      expect([again.session.idleMs, again.session.expiresAt - again.session.createdAt]).toEqual([
        lastingIdleMs,
        lastingMs,
      ]);
      // The browser had a session: the new one replaces it.
      expect(await sessions.authenticate(tokenOf(cookies))).toBeUndefined();
      expect((await sessions.list(id)).map(({ id: one }) => one)).toEqual([again.session.id]);
    });

    test("an entry of one person says nothing about another, and cannot be forged or kept for ever", async () => {
      const { told, clock } = world;
      const [ann, bob] = [await create(world), await create(world)];
      const { cookies } = await signIn(world, ann);
      const ofAnn = cookieOf(cookies.slice(1));
      await signIn(world, bob, { request: request(ofAnn) });
      expect(told).toContain(bob);
      const count = () => told.filter((one) => one === ann).length;
      await signIn(world, ann, { request: request(ofAnn) });
      expect(count()).toBe(1);
      const [head = "", rest = ""] = ofAnn.split(".", 2);
      await signIn(world, ann, {
        request: request(`${head}.${rest === "zzz" ? "zzy" : "zzz"}.${ofAnn.split(".")[2]}`),
      });
      expect(count()).toBe(2);
      clock.advance(401 * dayMs);
      await signIn(world, ann, { request: request(ofAnn) });
      expect(count()).toBe(3);
    });

    test("what is refused within it leaves nothing behind", async () => {
      const { sessions } = world;
      const id = await create(world);
      const before = async () => {
        throw new Problem("token_invalid", "used");
      };
      expect(codeOf(await signIn(world, id, { before }).catch((error) => error))).toBe("token_invalid");
      expect(await sessions.list(id)).toEqual([]);
    });

    test("can end all other sessions", async () => {
      const { sessions } = world;
      const id = await create(world);
      await signIn(world, id);
      await signIn(world, id);
      const { session } = await signIn(world, id, { endsOthers: true });
      expect((await sessions.list(id)).map(({ id: one }) => one)).toEqual([session.id]);
    });
  });

  describe("a session", () => {
    test("ends without use and at its absolute end, and is pruned then", async () => {
      const here = worldOn(await open());
      const id = await create(here);
      const { cookies } = await signIn(here, id);
      const use = async () => (await here.sessions.authenticate(tokenOf(cookies)))?.person.id;
      const leftMs = () => shortMs - (here.clock.now() - start);
      while (leftMs() > 1_000) {
        expect(await use()).toBe(id);
        await here.sessions.flush();
        here.clock.advance(Math.min(shortIdleMs - 1_000, leftMs() - 1_000));
      }
      expect(await use()).toBe(id);
      here.clock.advance(1_000);
      expect(await use()).toBeUndefined();
      const idle = await signIn(here, id);
      here.clock.advance(shortIdleMs);
      expect(await here.sessions.authenticate(tokenOf(idle.cookies))).toBeUndefined();
      await here.tokens.issue(here.sql.db, { kind: "reset", person: id, lifeMs: 1 });
      const kept = await here.tokens.issue(here.sql.db, { kind: "reset", person: id, lifeMs: 30 * dayMs });
      const lasting = await signIn(here, id, { isLasting: true });
      here.clock.advance(dayMs);
      while ((await prunePeople(here.sql, here.clock.now(), 1)) > 0);
      expect(await here.tokens.peek(here.sql.db, "reset", kept)).toBeDefined();
      const rows = await here.sql.db.selectFrom("sessions").select("id").execute();
      expect(rows).toEqual([{ id: lasting.session.id }]);
      expect(await here.sql.db.selectFrom("person_tokens").select("kind").execute()).toHaveLength(1);
    });
  });

  describe("the set-up", () => {
    const first = { email: "first@example.com", name: "First", passwordHash: "hash" };

    test("makes one operator, however many try at the same time, and is closed then", async () => {
      const here = worldOn(await open());
      const { sql, clock, people, tokens } = here;
      const tenant = await createTenants(sql, clock).create("default", "Default", byCommand);
      const setUp = createSetUp({ sql, clock, people, tokens });
      const issued: string[] = [];
      for (let i = 0; i < 4; i++) issued.push((await setUp.issue()) ?? "");
      const results = await Promise.allSettled(
        issued.flatMap((token, i) =>
          [0, 1].map((j) => setUp.complete(token, { ...first, email: `first${i}${j}@example.com` })),
        ),
      );
      const done = results.filter((one) => one.status === "fulfilled");
      expect(done).toHaveLength(1);
      for (const one of results) {
        if (one.status === "rejected") expect(["set_up_already", "token_invalid"]).toContain(codeOf(one.reason));
      }
      const everybody = (await people.list(10)).filter(({ person }) => person.id !== twinPerson);
      expect(everybody.map(({ person }) => person.isOperator)).toEqual([true]);
      const { value } = await accessSource(sql).load(done[0]?.value as PersonId, 0);
      expect(value?.memberships.filter(({ slug }) => slug !== "twin")).toMatchObject([
        { tenant: tenant.id, role: "owner" },
      ]);
      expect(await setUp.issue()).toBeUndefined();
      expect(await setUp.isOpen()).toBe(false);
      // A token of a command that looked before the first person was there.
      const late = await tokens.issue(sql.db, { kind: "setup", person: null, lifeMs: setUpMs });
      clock.advance(setUpMs / 2);
      expect(codeOf(await setUp.complete(late, first).catch((error) => error))).toBe("set_up_already");
    });

    test("stays open for the operator when somebody else has an account first", async () => {
      const { sql, clock, people, tokens } = worldOn(await open());
      const setUp = createSetUp({ sql, clock, people, tokens });
      const token = (await setUp.issue()) ?? "";
      const stranger = { ...first, email: "stranger@example.com", isVerified: true };
      await sql.transaction((trx) => people.createIn(trx, stranger, { kind: "nobody" }));
      expect(await setUp.isOpen()).toBe(true);
      expect(codeOf(await setUp.complete(token, stranger).catch((error) => error))).toBe("email_taken");
      const id = await setUp.complete(token, first);
      expect((await people.byId(id))?.person.isOperator).toBe(true);
      expect(await setUp.isOpen()).toBe(false);
    });

    test("refuses an expired token, and works where no workspace is called default", async () => {
      const { sql, clock, people, tokens } = worldOn(await open());
      const setUp = createSetUp({ sql, clock, people, tokens });
      const token = (await setUp.issue()) ?? "";
      clock.advance(setUpMs);
      expect(codeOf(await setUp.complete(token, first).catch((error) => error))).toBe("token_invalid");
      const id = await setUp.complete((await setUp.issue()) ?? "", first);
      expect((await people.byId(id))?.person).toMatchObject({ isOperator: true, email: "first@example.com" });
    });
  });
});
