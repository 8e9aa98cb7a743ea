import { expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import type { TenantId } from "../../src/base/ids.ts";
import { createRing, newKey } from "../../src/base/seal.ts";
import { defaultSwitches } from "../../src/email/settings/notice-kinds.ts";
import { resealAll } from "../../src/email/settings/reseal.ts";
import { createEmailSettings } from "../../src/email/settings/settings.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import { byCommand } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";
import { newTenant } from "./outbox.ts";

const [old, next] = [newKey(), newKey()];
const secret = "SG.a-secret-of-a-tenant";
const sealedOf = async (sql: Sql, tenant: TenantId) =>
  await acrossTenants(sql.db)
    .selectFrom("email_settings")
    .select("sendgrid_key")
    .where("tenant_id", "=", tenant)
    .executeTakeFirstOrThrow();

onEachDatabase((database) => {
  const settingsOf = (sql: Sql, ...keys: (typeof old)[]) =>
    createEmailSettings(sql, keys.length === 0 ? undefined : createRing(keys), systemClock);

  async function withKey(sql: Sql, key = old): Promise<TenantId> {
    const tenant = await newTenant(sql);
    await settingsOf(sql, key).change(tenant, { sendgridKey: secret, sender: "Acme <links@example.com>" }, byCommand);
    return tenant;
  }

  test("a tenant without settings has none", async () => {
    const sql = await database.open();
    const tenant = await newTenant(sql);
    const none = { contact: null, sender: null, sendgrid: null, webhookKey: null, webhookSecret: null };
    expect(await settingsOf(sql).of(tenant)).toEqual({ ...none, notices: defaultSwitches });
    expect(await settingsOf(sql).ownKey(tenant)).toBeUndefined();
  });

  test("omitted fields stay, null removes, and other tenants have their own", async () => {
    const sql = await database.open();
    const [tenant, other] = [await withKey(sql), await newTenant(sql)];
    const settings = settingsOf(sql, old);
    await settings.change(other, { contact: "other@example.com" }, byCommand);
    await settings.change(tenant, { contact: "ops@example.com" }, byCommand);
    const now = await settings.of(tenant);
    expect(now).toMatchObject({ contact: "ops@example.com", sender: "Acme <links@example.com>" });
    expect(now.sendgrid?.hint).toBe("…nant");
    expect(await settings.change(tenant, { sendgridKey: null, contact: null }, byCommand)).toMatchObject({
      ...{ contact: null, sendgrid: null, sender: "Acme <links@example.com>" },
    });
    expect(await settings.ownKey(tenant)).toBeUndefined();
    expect((await settings.of(other)).contact).toBe("other@example.com");
  });

  test("each kind of notice is switched by itself, and the others keep their state", async () => {
    const sql = await database.open();
    const [tenant, other] = [await newTenant(sql), await newTenant(sql)];
    const settings = settingsOf(sql);
    await settings.change(tenant, { contact: "ops@example.com", notices: { digest: false } }, byCommand);
    await Promise.all([
      settings.change(tenant, { notices: { drop: true } }, byCommand),
      settings.change(tenant, { notices: { firstClick: true } }, byCommand),
      settings.change(tenant, { sender: "links@example.com" }, byCommand),
    ]);
    const expected = { firstClick: true, spike: true, drop: true, deadTarget: true, digest: false };
    expect(await settings.of(tenant)).toMatchObject({ contact: "ops@example.com", notices: expected });
    expect((await settings.change(tenant, { notices: { spike: false } }, byCommand)).notices).toEqual({
      ...expected,
      spike: false,
    });
    expect((await settings.of(other)).notices).toEqual(defaultSwitches);
  });

  test("a key is sealed in SQL, opens for its tenant, and in no other row", async () => {
    const sql = await database.open();
    const [tenant, thief] = [await withKey(sql), await newTenant(sql)];
    const settings = settingsOf(sql, old);
    expect(await settings.ownKey(tenant)).toEqual({
      key: secret,
      sender: { name: "Acme", address: "links@example.com" },
    });
    const { sendgrid_key: sealed } = await sealedOf(sql, tenant);
    expect(sealed).not.toContain("secret");
    await settings.change(thief, { sender: "thief@example.com" }, byCommand);
    await acrossTenants(sql.db)
      .updateTable("email_settings")
      .set({ sendgrid_key: sealed })
      .where("tenant_id", "=", thief)
      .execute();
    expect(settings.ownKey(thief)).rejects.toThrow("was changed");
  });

  test("a key that cannot be opened stops the email instead of sending it another way", async () => {
    const sql = await database.open();
    const tenant = await withKey(sql);
    expect(settingsOf(sql, next).ownKey(tenant)).rejects.toThrow(`QL_SECRET_KEYS has no key "${old.id}"`);
    expect(settingsOf(sql).ownKey(tenant)).rejects.toThrow("QL_SECRET_KEYS is not set");
  });

  test("encrypting again processes every row once, and reports what no key decrypts", async () => {
    const sql = await database.open();
    const tenants: TenantId[] = [];
    for (let i = 0; i < 5; i++) tenants.push(await withKey(sql));
    const lost = await withKey(sql, newKey());
    const ring = createRing([next, old]);
    expect(await resealAll(sql, ring)).toEqual({ resealed: 5, current: 0, lost: [lost] });
    expect(await resealAll(sql, ring)).toEqual({ resealed: 0, current: 5, lost: [lost] });
    for (const tenant of tenants) expect((await settingsOf(sql, next).ownKey(tenant))?.key).toBe(secret);
  });

  test("a key that is saved while all are encrypted again is the one that stays", async () => {
    const sql = await database.open();
    const tenant = await withKey(sql);
    const ring = createRing([next, old]);
    const read = Promise.withResolvers<void>();
    const racing = {
      ...ring,
      // Between the reading of the row and its writing.
      open: (...asked: Parameters<typeof ring.open>) => {
        read.resolve();
        return ring.open(...asked);
      },
    };
    const saving = async () => {
      await read.promise;
      await settingsOf(sql, old).change(tenant, { sendgridKey: "SG.saved-meanwhile-by-somebody" }, byCommand);
    };
    await Promise.all([resealAll(sql, racing), saving()]);
    await resealAll(sql, ring);
    expect((await settingsOf(sql, next).ownKey(tenant))?.key).toBe("SG.saved-meanwhile-by-somebody");
  });
});
