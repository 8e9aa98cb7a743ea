/** What a tenant may make in a month: counted where the links are, so exactly. */
import { beforeAll, describe, expect, test } from "bun:test";
import { manualClock } from "../../src/base/clock.ts";
import { Problem } from "../../src/base/errors.ts";
import { createPasswords } from "../../src/base/passwords.ts";
import { createCodes } from "../../src/codes/codes.ts";
import { createIssuer } from "../../src/codes/issuer.ts";
import { monthEnd, monthName } from "../../src/limits/window.ts";
import { type BulkResult, createLinks, type Links } from "../../src/links/links.ts";
import { takeCodeBlock } from "../../src/sql/code-counter.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { usedInMonth } from "../../src/tenants/monthly-usage.ts";
import { createTenants, type Tenant } from "../../src/tenants/tenants.ts";
import { byCommand, byKey } from "../ground/actors.ts";
import { linkStores } from "../ground/links.ts";
import { onEachDatabase } from "./databases.ts";

const start = Date.UTC(2026, 10, 16);
const url = "https://example.com/";
const codes = createCodes("a salt for tests, and only for them");

let names = 0;
const fresh = (label: string) => `${label}-${++names}`;

onEachDatabase(({ openTwo }) => {
  const clock = manualClock(start);
  let sql: Sql;
  let links: Links;
  /** The same on another connection: a second instance. */
  let elsewhere: Links;

  const createOn = (client: Sql) =>
    createLinks({
      passwords: createPasswords(),
      ...linkStores(client),
      issuer: createIssuer(codes, (size) => takeCodeBlock(client, size), 100),
      clock,
      ownHosts: new Set(),
      defaultDays: 365,
      publish: () => {},
    });

  beforeAll(async () => {
    const [one, two] = await openTwo();
    sql = one;
    links = createOn(one);
    elsewhere = createOn(two);
  });

  async function tenantWith(linksPerMonth: number | null): Promise<Tenant> {
    const tenants = createTenants(sql, clock);
    const { slug } = await tenants.create(fresh("tenant"), "Somebody", byCommand);
    return await tenants.change(slug, { overrides: { linksPerMonth } }, byCommand);
  }

  const some = (count: number) => Array.from({ length: count }, () => ({ url }));
  const used = ({ id }: Tenant, month = monthName(clock.now())) =>
    usedInMonth(sql.db, { tenant: id, name: "links", month });
  const kinds = (results: readonly BulkResult[]): string[] =>
    results.map((result) => ("link" in result ? "link" : result.problem.code));

  async function refusal(work: Promise<unknown>): Promise<Problem> {
    const reason = await work.catch((error: unknown) => error);
    if (reason instanceof Problem) return reason;
    throw new Error(`not a Problem: ${reason}`);
  }

  describe("the links of a month", () => {
    test("are as many as the plan gives, however many are asked for at once", async () => {
      const owner = await tenantWith(20);
      const made = await Promise.allSettled(
        Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? links : elsewhere).create(owner, { url }, byKey)),
      );
      expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(20);
      expect(await used(owner)).toBe(20);
      const problem = await refusal(links.create(owner, { url }, byKey));
      expect(problem.code).toBe("limit_reached");
      expect(problem.more.retryAfterSeconds).toBe(15 * 86_400);
      expect(problem.detail).toStartWith("Your plan's 20 new links for this month are used.");
      expect(problem.detail).toContain("from 2026-12-01 (UTC)");
    });

    test("are the first of many in one request, and each of the others is refused", async () => {
      const owner = await tenantWith(150);
      expect(kinds(await links.createMany(owner, some(400), byKey))).toEqual([
        ...some(150).map(() => "link"),
        ...some(250).map(() => "limit_reached"),
      ]);
      expect(await used(owner)).toBe(150);
    });

    test("are not spent by a code that is taken, nor by input that is refused", async () => {
      const [owner, stranger] = [await tenantWith(4), await tenantWith(1)];
      const code = fresh("theirs");
      await links.create(stranger, { url, code }, byKey);
      const inputs = [{ url }, { url, code }, { url: "nonsense" }, { url }];
      expect(kinds(await links.createMany(owner, inputs, byKey))).toEqual([
        "link",
        "code_taken",
        "invalid_input",
        "link",
      ]);
      expect(await used(owner)).toBe(2);
    });

    test("are not given back with a link that is deleted", async () => {
      const owner = await tenantWith(1);
      const link = await links.create(owner, { url }, byKey);
      await links.remove(owner.id, link.id, byCommand);
      expect((await refusal(links.create(owner, { url }, byKey))).code).toBe("limit_reached");
    });

    test("are not spent by the operator, whom they do not stop either", async () => {
      const owner = await tenantWith(0);
      expect((await refusal(links.create(owner, { url }, byKey))).code).toBe("limit_reached");
      await links.create(owner, { url }, byCommand);
      expect(kinds(await links.createMany(owner, some(2), byCommand))).toEqual(["link", "link"]);
      expect(await used(owner)).toBe(0);
    });

    test("are counted where there is no limit, so that a later one knows", async () => {
      const owner = await tenantWith(null);
      await links.createMany(owner, some(5), byKey);
      expect(await used(owner)).toBe(5);
      const limited = { ...owner, limits: { ...owner.limits, linksPerMonth: 6 } };
      expect(kinds(await links.createMany(limited, some(2), byKey))).toEqual(["link", "limit_reached"]);
    });

    test("start over with the month", async () => {
      const owner = await tenantWith(2);
      for (let i = 0; i < 2; i++) await links.create(owner, { url }, byKey);
      const before = clock.now();
      clock.set(monthEnd(before));
      await links.create(owner, { url }, byKey);
      expect([await used(owner, monthName(before)), await used(owner)]).toEqual([2, 1]);
      clock.set(before);
    });

    test("are each tenant's own, although several make theirs at the same moment", async () => {
      const owners = [await tenantWith(10), await tenantWith(10), await tenantWith(10)];
      const made = await Promise.all(
        Array.from({ length: 8 }, () => owners)
          .flat()
          .map(async (owner) => ({ owner, link: await links.create(owner, { url }, byKey) })),
      );
      expect(made.filter(({ owner, link }) => link.tenantId !== owner.id)).toEqual([]);
      expect(await Promise.all(owners.map((owner) => used(owner)))).toEqual([8, 8, 8]);
    });

    test("do not deadlock when two callers want the same codes", async () => {
      const owners = [await tenantWith(null), await tenantWith(null)];
      const wanted = Array.from({ length: 60 }, () => ({ url, code: fresh("wanted") }));
      const results = await Promise.all(
        owners.flatMap((owner) => [
          links.createMany(owner, wanted, byKey),
          elsewhere.createMany(owner, wanted.toReversed(), byKey),
        ]),
      );
      expect(results.flatMap(kinds).filter((kind) => kind === "link")).toHaveLength(60);
      const counts = await Promise.all(owners.map((owner) => used(owner)));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(60);
    });
  });
});
