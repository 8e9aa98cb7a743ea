/** What a tenant decides about its clicks. */
import { beforeAll, describe, expect, test } from "bun:test";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { type ClickSettingsStore, createClickSettings } from "../../src/clicks/settings.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { createTenants, type Tenant } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";

onEachDatabase(({ open }) => {
  let sql: Sql;
  let settings: ClickSettingsStore;
  let names = 0;
  const clock = manualClock(Date.UTC(2026, 10, 16));
  const newTenant = (plan?: string): Promise<Tenant> =>
    createTenants(sql, clock).create(`settings-${++names}`, "Settings", byCommand, plan);

  beforeAll(async () => {
    sql = await open();
    settings = createClickSettings(sql, clock);
  });

  test("a tenant that has set nothing has UTC, facts, and the events of its plan", async () => {
    const defaults = { timeZone: "UTC", facts: true, eventDays: null, tags: [] };
    expect(await settings.of(await newTenant())).toEqual({ ...defaults, eventsKeptDays: 90 });
    expect(await settings.of(await newTenant("unlimited"))).toEqual({ ...defaults, eventsKeptDays: null });
  });

  test("only the given settings change", async () => {
    const tenant = await newTenant();
    await settings.change(tenant, { timeZone: "Asia/Kathmandu", eventDays: 7 }, byCommand);
    await settings.change(tenant, { facts: false }, byCommand);
    const expected = { timeZone: "Asia/Kathmandu", facts: false, eventDays: 7, eventsKeptDays: 7, tags: [] };
    expect(await settings.of(tenant)).toEqual(expected);
    expect(await settings.change(tenant, { eventDays: null }, byCommand)).toEqual({
      ...expected,
      eventDays: null,
      eventsKeptDays: 90,
    });
  });

  test("a tenant that wants to keep events for a day is told for how long they are kept", async () => {
    const tenant = await newTenant();
    expect(await settings.change(tenant, { eventDays: 1 }, byCommand)).toMatchObject({
      ...{ eventDays: 1, eventsKeptDays: 4 },
    });
  });

  test("a change leaves the progress of condensing as it is", async () => {
    const tenant = await newTenant();
    const own = ofTenant(sql.db, tenant.id);
    await settings.change(tenant, {}, byCommand);
    const progress = { late: 3, hours_until: 5, days_until: 6, months_until: 7 };
    await own.updateTable("click_tenants").set(progress).execute();
    await settings.change(tenant, { timeZone: "Europe/Berlin", facts: false }, byCommand);
    expect(await own.selectFrom("click_tenants").selectAll().executeTakeFirst()).toMatchObject(progress);
  });

  describe("refused is", () => {
    test.each(["Mars/Olympus", "+02:00", "", "Europe/Berlin\n", "..", "UTC; drop table links"])(
      "the time zone %p, by name",
      async (timeZone) => {
        const tenant = await newTenant();
        await expect(settings.change(tenant, { timeZone, facts: false }, byCommand)).rejects.toMatchObject({
          code: "invalid_input",
          more: { errors: [{ field: "timeZone", code: "unknown_zone" }] },
        });
        expect((await settings.of(tenant)).facts).toBe(true);
      },
    );

    test("keeping events longer than the plan does", async () => {
      const tenant = await newTenant();
      await expect(settings.change(tenant, { eventDays: 91 }, byCommand)).rejects.toMatchObject({
        more: { errors: [{ field: "eventDays", code: "above_plan" }] },
      });
      expect(await settings.change(tenant, { eventDays: 90 }, byCommand)).toMatchObject({ eventDays: 90 });
      expect(await settings.change(await newTenant("unlimited"), { eventDays: 5_000 }, byCommand)).toMatchObject({
        eventsKeptDays: 5_000,
      });
    });

    test("a 51st tag", async () => {
      const tags = Array.from({ length: 51 }, (_, place) => `tag ${place}`);
      const tenant = await newTenant();
      await expect(settings.change(tenant, { tags }, byCommand)).rejects.toMatchObject({
        more: { errors: [{ field: "tags", code: "too_many" }] },
      });
      expect((await settings.change(tenant, { tags: tags.slice(1) }, byCommand)).tags).toHaveLength(50);
    });
  });

  test("a tag that stays chosen keeps its number", async () => {
    const tenant = await newTenant();
    const numbers = async () =>
      new Map(
        (await ofTenant(sql.db, tenant.id).selectFrom("click_groups").select(["name", "number"]).execute()).map(
          ({ name, number }) => [name, number],
        ),
      );
    await settings.change(tenant, { tags: ["spring", "summer"] }, byCommand);
    const before = await numbers();
    expect((await settings.change(tenant, { tags: ["winter", "summer"] }, byCommand)).tags).toEqual([
      "summer",
      "winter",
    ]);
    const after = await numbers();
    expect(after.get("summer")).toBe(before.get("summer") as number as never);
    expect([...after.keys()].toSorted()).toEqual(["summer", "winter"]);
    const since = await ofTenant(sql.db, tenant.id).selectFrom("click_groups").select("since").execute();
    for (const one of since) expect(one.since).toBeWithin(systemClock.now() - 60_000, systemClock.now() + 60_000);
  });
});
