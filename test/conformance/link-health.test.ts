import { beforeAll, describe, expect, test } from "bun:test";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, BlockList } from "node:net";
import { type ManualClock, manualClock } from "../../src/base/clock.ts";
import { createPasswords } from "../../src/base/passwords.ts";
import { createShares } from "../../src/base/shares.ts";
import { createCodes } from "../../src/codes/codes.ts";
import { createIssuer } from "../../src/codes/issuer.ts";
import { type CheckRound, runCheckRound } from "../../src/link-health/check-round.ts";
import { createHealthStore, type HealthStore } from "../../src/link-health/store.ts";
import type { Link } from "../../src/links/link.ts";
import { createLinks, type Links } from "../../src/links/links.ts";
import { createSafeFetch } from "../../src/safe-fetch/safe-fetch.ts";
import { takeCodeBlock } from "../../src/sql/code-counter.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { createTenants, type Tenant } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { linkStores } from "../ground/links.ts";
import { onEachDatabase } from "./databases.ts";
import { few } from "./stores.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const never = new AbortController().signal;

onEachDatabase(({ open }) => {
  let sql: Sql;
  let clock: ManualClock;
  let store: HealthStore;
  let links: Links;
  let tenant: Tenant;

  beforeAll(async () => {
    sql = await open();
    clock = manualClock(Date.UTC(2026, 10, 16));
    store = createHealthStore(sql);
    const codes = createCodes("a salt for tests of targets");
    links = createLinks({
      ...linkStores(sql),
      issuer: createIssuer(codes, (size) => takeCodeBlock(sql, size), 1_000),
      clock,
      ownHosts: new Set(),
      passwords: createPasswords(),
      defaultDays: 365,
      publish() {},
    });
    tenant = await createTenants(sql, clock).create("targets", "Targets", byCommand, "unlimited");
  });

  /** A site whose pages answer what `pages` says, and that remembers what it was asked. */
  async function site(pages: Record<string, (response: ServerResponse, request: IncomingMessage) => void>) {
    const asked: string[] = [];
    let [now, most] = [0, 0];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      most = Math.max(most, ++now);
      response.on("close", () => now--);
      const page = pages[request.url ?? ""];
      if (page) page(response, request);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const allow = new BlockList();
    allow.addSubnet("127.0.0.0", 8);
    const safeFetch = createSafeFetch({ allow, ports: [port], userAgent: "QuickLink test" });
    return {
      asked,
      most: () => most,
      make: (path: string, fields: object = {}) =>
        links.create(tenant, { url: `http://127.0.0.1:${port}${path}`, ...fields }, byCommand),
      round: (signal = never): Promise<CheckRound> =>
        runCheckRound(
          {
            store,
            safeFetch,
            places: createShares(few),
            everyMs: dayMs,
            clock,
            chance: () => 0.5,
            setTitle: async (_, id, title) => void (await links.patch(tenant, id, { title }, byCommand)),
          },
          signal,
        ),
      [Symbol.dispose]: () => void server.close(),
    };
  }

  const page = (title: string) => (response: ServerResponse) =>
    response.writeHead(200, { "content-type": "text/html" }).end(`<title>${title}</title>`);
  const known = async (link: Link) => (await store.of([await links.get(tenant.id, link.id)])).get(link.id);

  describe("targets", () => {
    test("a link whose owner asks has its title and its state in the next round", async () => {
      using there = await site({ "/a": page("Found &amp; read") });
      const link = await there.make("/a");
      await store.want(link.id, clock.now());
      await there.round();
      expect((await links.get(tenant.id, link.id)).title).toBe("Found & read");
      expect(await known(link)).toEqual({
        ...{ state: "ok", checkedAt: clock.now(), httpStatus: 200, reason: null },
        ...{ responseMs: expect.any(Number), failingSince: null },
      });
      expect(there.asked).toEqual(["GET /a"]);
    });

    test("a title set by its owner stays", async () => {
      using there = await site({ "/a": page("Found") });
      const link = await there.make("/a", { title: "Mine" });
      await store.want(link.id, clock.now());
      await there.round();
      expect((await links.get(tenant.id, link.id)).title).toBe("Mine");
    });

    test("new links are taken in once they are settled, looked at within a day, and then daily by HEAD", async () => {
      using there = await site({ "/b": (response) => response.end() });
      const link = await there.make("/b");
      expect((await there.round()).adopted).toBe(0);
      clock.advance(6 * 60_000);
      expect((await there.round()).adopted).toBeGreaterThan(0);
      expect((await there.round()).adopted).toBe(0);
      expect(there.asked).toEqual([]);
      clock.advance(hourMs + dayMs);
      await there.round();
      expect(there.asked).toEqual(["HEAD /b"]);
      expect((await known(link))?.state).toBe("ok");
      clock.advance(dayMs);
      await there.round();
      expect(there.asked).toEqual(["HEAD /b", "HEAD /b"]);
    });

    test("a server that does not know HEAD is asked again with GET", async () => {
      using there = await site({
        "/g": (response, { method }) => response.writeHead(method === "HEAD" ? 501 : 200).end(),
      });
      const link = await there.make("/g");
      clock.advance(6 * 60_000);
      await there.round();
      clock.advance(hourMs + dayMs);
      await there.round();
      expect(there.asked).toEqual(["HEAD /g", "GET /g"]);
      expect((await known(link))?.state).toBe("ok");
    });

    test("a failing target is checked less and less often until it is dead, and is ok again when it answers", async () => {
      let gone = true;
      using there = await site({ "/c": (response) => response.writeHead(gone ? 410 : 200).end() });
      const link = await there.make("/c");
      await store.want(link.id, clock.now());
      const states: unknown[] = [];
      const firstSeen = clock.now();
      for (let failures = 1; failures <= 7; failures++) {
        await there.round();
        states.push((await known(link))?.state);
        clock.advance(hourMs * 2 ** (failures - 1) - 1);
        await there.round();
        clock.advance(1);
      }
      expect(states).toEqual([...Array.from({ length: 6 }, () => "failing"), "dead"]);
      expect(await known(link)).toMatchObject({ httpStatus: 410, reason: "http_410", failingSince: firstSeen });
      expect(there.asked.filter((one) => one.startsWith("GET"))).toHaveLength(7);
      gone = false;
      await there.round();
      expect(await known(link)).toMatchObject({ state: "ok", failingSince: null });
    });

    test("after an edit of the URL nothing is known about it, and checks start over", async () => {
      using there = await site({ "/new": (response) => response.end() });
      const link = await there.make("/old");
      await store.want(link.id, clock.now());
      await there.round();
      expect((await known(link))?.state).toBe("failing");
      await links.patch(tenant, link.id, { url: link.url.replace("/old", "/new") }, byCommand);
      expect(await known(link)).toBeUndefined();
      await store.want(link.id, clock.now());
      const due = (await store.due(clock.now(), 1_000)).find(({ id }) => id === link.id);
      expect(due).toMatchObject({ failures: 0, url: link.url.replace("/old", "/new") });
      await there.round();
      expect((await known(link))?.state).toBe("ok");
    });

    test("one host gets one request at a time and a limited number per round; the others follow", async () => {
      using there = await site({ "/many": (response) => response.end() });
      const made = await Promise.all(Array.from({ length: 15 }, () => there.make("/many")));
      for (const { id } of made) await store.want(id, clock.now());
      await there.round();
      expect(there.asked).toHaveLength(10);
      expect(there.most()).toBe(1);
      clock.advance(hourMs);
      await there.round();
      expect(there.asked).toHaveLength(15);
    });

    test("disabled, expired and deleted links are not checked", async () => {
      using there = await site({ "/d": (response) => response.end() });
      const off = await there.make("/d", { status: "disabled" });
      const old = await there.make("/d", { expiresAt: clock.now() + 1 });
      const gone = await there.make("/d");
      for (const { id } of [off, old, gone]) await store.want(id, clock.now());
      await links.remove(tenant.id, gone.id, byCommand);
      clock.advance(1);
      await there.round();
      expect(there.asked).toEqual([]);
      const rows = await sql.db.selectFrom("targets").select("link_id").execute();
      expect(rows.filter(({ link_id }) => link_id === gone.id)).toEqual([]);
    });

    test("what may not be asked is said to be unchecked, with the reason", async () => {
      using there = await site({});
      const link = await links.create(tenant, { url: "http://10.1.2.3/" }, byCommand);
      await store.want(link.id, clock.now());
      await there.round();
      expect(await known(link)).toMatchObject({ state: "unchecked", httpStatus: null, reason: "port" });
    });

    test("a round that is stopped records nothing about targets it did not check", async () => {
      const ending = new AbortController();
      using there = await site({ "/e": () => ending.abort() });
      const link = await there.make("/e");
      await store.want(link.id, clock.now());
      expect((await there.round(ending.signal)).checked).toBe(0);
      expect(await known(link)).toBeUndefined();
      expect((await store.due(clock.now(), 10)).map(({ id }) => id)).toContain(link.id);
    });
  });
});
