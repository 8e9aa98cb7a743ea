import { expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import type { TenantId } from "../../src/base/ids.ts";
import { createDeliveries } from "../../src/email/delivery/deliveries.ts";
import { readEvent } from "../../src/email/delivery/events.ts";
import { createSuppressions } from "../../src/email/delivery/suppressions.ts";
import { createEmailStore } from "../../src/email/outbox/store.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import { byCommand } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";
import { newRow, newTenant, rowOf } from "./outbox.ts";

onEachDatabase((database) => {
  async function open() {
    const sql = await database.open();
    const suppressions = createSuppressions(sql, systemClock);
    const deliveries = createDeliveries(sql, suppressions, systemClock);
    const tell = async (tenant: TenantId, ...events: Record<string, unknown>[]) =>
      await deliveries.apply(
        tenant,
        await deliveries.find(
          tenant,
          events.flatMap((event) => readEvent(event) ?? []),
        ),
      );
    return { sql, suppressions, deliveries, tell };
  }

  async function sent(sql: Sql, tenant: TenantId, providerId: string, to = "Ann@example.com") {
    const row = newRow(tenant, { to });
    await createEmailStore(sql).insert(row);
    await acrossTenants(sql.db)
      .updateTable("emails")
      .set({ state: "sent", provider_id: providerId })
      .where("id", "=", row.id)
      .execute();
    return row.id;
  }

  const about = (id: string, event: string, more: object = {}) => ({ sg_message_id: `${id}.filter1`, event, ...more });

  test("what the provider reports is recorded on the email, and stays whatever comes after it", async () => {
    const { sql, tell } = await open();
    const tenant = await newTenant(sql);
    const id = await sent(sql, tenant, "sg1");
    expect(await tell(tenant, about("sg1", "delivered", { timestamp: 1_763_287_200 }))).toBe(1);
    expect(await rowOf(sql, id)).toMatchObject({ delivery: "delivered", delivery_at: 1_763_287_200_000 });
    await tell(tenant, about("sg1", "spamreport"));
    for (const event of ["bounce", "delivered", "dropped"]) await tell(tenant, about("sg1", event));
    expect(await rowOf(sql, id)).toMatchObject({ delivery: "complaint", state: "sent" });
  });

  test("the order of events within one call does not matter either", async () => {
    const { sql, tell } = await open();
    const tenant = await newTenant(sql);
    const id = await sent(sql, tenant, "sg1");
    await tell(
      tenant,
      about("sg1", "spamreport"),
      about("sg1", "bounce", { reason: "550" }),
      about("sg1", "delivered"),
    );
    expect((await rowOf(sql, id)).delivery).toBe("complaint");
  });

  test("a recipient that bounced or complained gets no more from this tenant, and only from this one", async () => {
    const { sql, tell, suppressions } = await open();
    const [tenant, other] = [await newTenant(sql), await newTenant(sql)];
    await sent(sql, tenant, "sg1");
    await sent(sql, tenant, "sg2", "bob@example.com");
    await sent(sql, tenant, "sg3", "cy@example.com");
    await tell(
      tenant,
      about("sg1", "bounce", { type: "bounce", email: "victim@example.com" }),
      about("sg2", "bounce", { type: "blocked" }),
      about("sg3", "unsubscribe"),
    );
    const found = await suppressions.list(tenant, 10);
    expect(found.map(({ address, reason }) => [address, reason])).toEqual([
      ["ann@example.com", "bounced"],
      ["cy@example.com", "unsubscribed"],
    ]);
    expect(await suppressions.list(other, 10)).toEqual([]);
    expect(await suppressions.find(other, "ann@example.com", "share")).toBeUndefined();
    expect(await suppressions.find(tenant, "Ann@EXAMPLE.com", "share")).toBe("bounced");
  });

  test("an event that is repeated after its address was removed from the list does not suppress it again", async () => {
    const { sql, tell, suppressions } = await open();
    const tenant = await newTenant(sql);
    await sent(sql, tenant, "sg1");
    const bounce = about("sg1", "bounce", { type: "bounce" });
    await tell(tenant, bounce);
    expect(await suppressions.remove(tenant, "ann@EXAMPLE.com", byCommand)).toBe(true);
    expect(await tell(tenant, bounce)).toBe(0);
    expect(await suppressions.list(tenant, 10)).toEqual([]);
  });

  test("a tenant's events reach no other tenant's email, though they name it", async () => {
    const { sql, tell, suppressions } = await open();
    const [tenant, other] = [await newTenant(sql), await newTenant(sql)];
    const id = await sent(sql, other, "sg1");
    expect(await tell(tenant, about("sg1", "spamreport"), about("sg1", "bounce", { type: "bounce" }))).toBe(0);
    expect((await rowOf(sql, id)).delivery).toBeNull();
    for (const each of [tenant, other]) expect(await suppressions.list(each, 10)).toEqual([]);
  });

  test("unknown IDs are skipped, however many there are", async () => {
    const { sql, tell, deliveries } = await open();
    const tenant = await newTenant(sql);
    const id = await sent(sql, tenant, "sg-known");
    const unknown = Array.from({ length: 2_000 }, (_, i) => about(`other${i}`, "delivered"));
    expect(await tell(tenant, ...unknown, about("sg-known", "delivered"))).toBe(1);
    expect((await rowOf(sql, id)).delivery).toBe("delivered");
    expect(await deliveries.find(tenant, [])).toEqual([]);
  });

  test("the list of suppressed addresses comes in pages", async () => {
    const { sql, suppressions } = await open();
    const tenant = await newTenant(sql);
    for (const name of ["a", "b", "c"]) await suppressions.add(tenant, `${name}@example.com`, "manual");
    const first = await suppressions.list(tenant, 2);
    const rest = await suppressions.list(tenant, 2, first.at(-1)?.address);
    expect([...first, ...rest].map(({ address }) => address)).toEqual([
      "a@example.com",
      "b@example.com",
      "c@example.com",
    ]);
  });
});
