import { beforeAll, describe, expect, test } from "bun:test";
import { dayMs, systemClock } from "../../src/base/clock.ts";
import type { TenantId } from "../../src/base/ids.ts";
import type { SigningSecrets } from "../../src/base/signature.ts";
import { type Answers, createAnswers, type IdempotentRun, pruneAnswers } from "../../src/idempotency/answers.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";
import { notOfTwin } from "./two-tenants.ts";

const answer = { status: 201, headers: { etag: '"1"' }, body: '{"secret":"nobody may read this"}' };
const secrets = (...all: Uint8Array[]): SigningSecrets => ({ newest: all[0] as Uint8Array, all: () => all });
const secret = new Uint8Array(32).fill(7);
const serverSecrets = secrets(secret);

onEachDatabase(({ openTwo }) => {
  let sql: Sql;
  let here: Answers;
  let elsewhere: Answers;
  let tenant: TenantId;
  let keys = 0;
  const newKey = () => `key-${++keys}`;

  beforeAll(async () => {
    const [one, two] = await openTwo();
    sql = one;
    here = createAnswers({ sql: one, serverSecrets, alone: false });
    elsewhere = createAnswers({ sql: two, serverSecrets, alone: false });
    tenant = (await createTenants(sql, systemClock).create("owner", "Owner", byCommand)).id;
  });

  async function run(from: Answers, key: string, repeatable = true): Promise<IdempotentRun> {
    const begun = await from.begin(tenant, key, "asked", repeatable);
    if (begun.kind !== "run") throw new Error(`not to be run: ${begun.kind}`);
    return begun.run;
  }

  const kind = async (from: Answers, key: string, repeatable = true) =>
    (await from.begin(tenant, key, "asked", repeatable)).kind;

  /** The process that has a claim has not renewed it within its validity. */
  const abandon = () => acrossTenants(sql.db).updateTable("idempotency").set({ claimed_until: 0 }).execute();

  describe("requests that happen once", () => {
    test("of many that begin at once one runs, whichever server they come to", async () => {
      const key = newKey();
      const kinds = await Promise.all(Array.from({ length: 20 }, (_, i) => kind(i % 2 ? here : elsewhere, key)));
      expect(kinds.filter((kind) => kind === "run")).toHaveLength(1);
      expect(kinds.filter((kind) => kind === "in_flight")).toHaveLength(19);
    });

    test("a finished one is answered from what was kept, on every server, and to the same request only", async () => {
      const key = newKey();
      await (await run(here, key)).finish(answer);
      expect(await elsewhere.begin(tenant, key, "asked", true)).toEqual({ kind: "replay", answer });
      expect(await elsewhere.begin(tenant, key, "something else", true)).toEqual({ kind: "mismatch" });
    });

    test("an abandoned one is run again with the same ids and secrets", async () => {
      const key = newKey();
      const first = await run(here, key);
      await abandon();
      const second = await run(elsewhere, key);
      expect(second.derived.id("link")).toBe(first.derived.id("link"));
      expect(second.derived.id("link", 1)).not.toBe(first.derived.id("link"));
      expect(second.derived.secret("key")).toEqual(first.derived.secret("key"));
      expect(await kind(here, key)).toBe("in_flight");
    });

    test("of many that find an abandoned one at once, one runs it again", async () => {
      const key = newKey();
      await run(here, key);
      await abandon();
      const kinds = await Promise.all(Array.from({ length: 20 }, (_, i) => kind(i % 2 ? here : elsewhere, key)));
      expect(kinds.filter((kind) => kind === "run")).toHaveLength(1);
      expect(kinds.filter((kind) => kind === "in_flight")).toHaveLength(19);
    });

    test("an abandoned one that cannot be run again is reported as unknown", async () => {
      const key = newKey();
      await run(here, key, false);
      expect(await kind(elsewhere, key, false)).toBe("in_flight");
      await abandon();
      expect(await kind(elsewhere, key, false)).toBe("unknown");
      expect(await kind(elsewhere, key, false)).toBe("unknown");
    });

    test("a process that lost its claim can neither finish nor delete the row of another", async () => {
      const key = newKey();
      const slow = await run(here, key);
      await abandon();
      const fast = await run(elsewhere, key);
      await slow.finish({ ...answer, status: 200 });
      await slow.forget();
      await slow.release();
      expect(await kind(here, key)).toBe("in_flight");
      await fast.finish(answer);
      expect(await here.begin(tenant, key, "asked", true)).toEqual({ kind: "replay", answer });
    });

    test("a renewed claim is kept, a released one is free at once, a forgotten one never was", async () => {
      const key = newKey();
      const first = await run(here, key);
      await abandon();
      await first.renew();
      expect(await kind(elsewhere, key)).toBe("in_flight");
      await first.release();
      const second = await run(elsewhere, key);
      expect(second.derived.id("link")).toBe(first.derived.id("link"));
      await second.forget();
      expect((await run(here, key)).derived.id("link")).not.toBe(first.derived.id("link"));
    });

    test("a server that is alone takes over at once what a former one abandoned, and nothing of its own", async () => {
      const [left, own] = [newKey(), newKey()];
      await run(here, left);
      const alone = createAnswers({ sql, serverSecrets, alone: true });
      expect(await kind(alone, left)).toBe("run");
      expect(await kind(alone, left)).toBe("in_flight");
      await run(alone, own);
      expect(await kind(alone, own)).toBe("in_flight");
    });

    test("an answer that is too large to be stored is computed again", async () => {
      const key = newKey();
      const first = await run(here, key);
      await first.finish({ ...answer, body: "x".repeat(5_000_000) });
      expect((await run(elsewhere, key)).derived.id("link")).toBe(first.derived.id("link"));
    });

    test("what is kept cannot be read without the key; and after the server's secret was changed nothing is done twice", async () => {
      const key = newKey();
      await (await run(here, key)).finish(answer);
      const rows = JSON.stringify(await acrossTenants(sql.db).selectFrom("idempotency").selectAll().execute());
      expect(rows).not.toContain("nobody may read this");
      const foreign = createAnswers({ sql, serverSecrets: secrets(new Uint8Array(32)), alone: false });
      expect(await kind(foreign, key)).toBe("unknown");
      const running = newKey();
      await run(here, running);
      await abandon();
      expect(await kind(foreign, running)).toBe("unknown");
      expect(await kind(here, running)).toBe("run");
    });

    test("with a new secret, requests that were started and answered under the previous one continue", async () => {
      const [answered, left] = [newKey(), newKey()];
      await (await run(here, answered)).finish(answer);
      const first = await run(here, left);
      await abandon();
      const after = createAnswers({ sql, serverSecrets: secrets(new Uint8Array(32).fill(8), secret), alone: false });
      expect(await after.begin(tenant, answered, "asked", true)).toEqual({ kind: "replay", answer });
      expect((await run(after, left)).derived.id("link")).toBe(first.derived.id("link"));
      const fresh = newKey();
      await (await run(after, fresh)).finish(answer);
      expect(await kind(after, fresh)).toBe("replay");
      expect(await kind(here, fresh)).toBe("unknown");
    });

    test("after a day a key is new again, and its row is deleted", async () => {
      const key = newKey();
      const first = await run(here, key);
      await first.finish(answer);
      const rows = await acrossTenants(sql.db)
        .selectFrom("idempotency")
        .select("expires_at")
        .where(notOfTwin)
        .execute();
      const newest = Math.max(...rows.map((row) => Number(row.expires_at)));
      expect(Math.abs(newest - Date.now() - dayMs)).toBeLessThan(dayMs / 24);
      await acrossTenants(sql.db).updateTable("idempotency").set({ expires_at: 1 }).where(notOfTwin).execute();
      expect((await run(here, key)).derived.id("link")).not.toBe(first.derived.id("link"));
      expect(await pruneAnswers(sql, 1_000)).toBeGreaterThan(0);
      const left = await acrossTenants(sql.db).selectFrom("idempotency").select("key_hash").where(notOfTwin).execute();
      expect(left.length).toBe(1);
      expect(await kind(here, key)).toBe("in_flight");
    });
  });
});
