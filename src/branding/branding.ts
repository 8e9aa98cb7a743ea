import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { TenantId } from "../base/ids.ts";
import { type Actor, differenceOf, recordHistory } from "../history/history.ts";
import type { TenantNumber } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { acrossTenants, type Db, ofTenant, type TenantDb } from "../sql/tenant-db.ts";
import type { BrandFields } from "./brand.ts";
import type { LogoType } from "./logo.ts";

/** Name, colour and logo of a workspace, on its pages for visitors. */
export interface Branding extends BrandFields {
  readonly logoType: LogoType | null;
}

export interface BrandingChange {
  readonly name?: string | null | undefined;
  readonly colour?: string | null | undefined;
  readonly logo?: { readonly bytes: Buffer; readonly type: LogoType } | null | undefined;
}

export interface BrandingStore {
  of(tenant: TenantId): Promise<Branding>;
  change(tenant: TenantId, change: BrandingChange, by: Actor): Promise<Branding>;
}

export const unbranded: Branding = { name: null, colour: null, logoHash: null, logoType: null };

export function createBranding(sql: Sql, clock: Pick<Clock, "now">): BrandingStore {
  const locked = statement((own: TenantDb) => sql.forUpdate(own.selectFrom("branding").select(columns)));

  return {
    async of(tenant) {
      const row = await selectOwn.first(ofTenant(sql.db, tenant));
      return row === undefined ? unbranded : toBranding(row);
    },

    change: (tenant, { name, colour, logo }, by) =>
      sql.transaction(async (trx) => {
        const own = ofTenant(trx, tenant);
        await insertEmpty.run(own, { at: clock.now() });
        const before = toBranding(await locked.one(own));
        const after: Branding = {
          name: name === undefined ? before.name : name,
          colour: colour === undefined ? before.colour : colour,
          ...(logo === undefined
            ? { logoHash: before.logoHash, logoType: before.logoType }
            : { logoHash: logo && hashOf(logo.bytes), logoType: logo?.type ?? null }),
        };
        const changed = differenceOf({ ...before }, { ...after });
        if (changed === undefined) return before;
        await setFields.run(own, { name: after.name, colour: after.colour, at: clock.now() });
        if (logo !== undefined) {
          const stored = { logo: logo?.bytes.toString("base64") ?? null, type: after.logoType, hash: after.logoHash };
          await setLogo.run(own, stored);
        }
        await recordHistory(trx, clock, {
          ...{ tenant, actor: by, action: "branding.update", subject: { kind: "workspace", id: tenant } },
          ...changed,
        });
        return after;
      }),
  };
}

const hashOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** For a page about one of its links. */
export async function brandOfTenant(db: Db, tenant: TenantNumber): Promise<BrandFields | undefined> {
  const row = await selectByNumber.first(db, { tenant });
  return row && toBranding(row);
}

/** For a page on a custom domain that is about no link. */
export async function brandOfDomain(db: Db, host: string): Promise<BrandFields | undefined> {
  const row = await selectByHost.first(db, { host });
  return row && toBranding(row);
}

/** The logo with this hash; not of a suspended workspace. */
export async function logoBytes(db: Db, hash: string): Promise<{ bytes: Buffer; type: LogoType } | undefined> {
  const row = await selectLogo.first(db, { hash });
  if (row?.logo == null || row.logo_type === null) return undefined;
  return { bytes: Buffer.from(row.logo, "base64"), type: row.logo_type };
}

/** The logo of a tenant that is neither suspended nor being deleted. */
export async function logoOf(db: Db, branding: Pick<BrandingStore, "of">, tenant: TenantId) {
  const { logoHash: hash } = await branding.of(tenant);
  const found = hash === null ? undefined : await logoBytes(db, hash);
  return hash === null || found === undefined ? undefined : { ...found, hash };
}

const columns = ["name", "colour", "logo_hash", "logo_type"] as const;

interface Row {
  readonly name: string | null;
  readonly colour: string | null;
  readonly logo_hash: string | null;
  readonly logo_type: LogoType | null;
}

const toBranding = (row: Row): Branding => ({
  ...{ name: row.name, colour: row.colour, logoHash: row.logo_hash, logoType: row.logo_type },
});

const selectOwn = statement((own: TenantDb) => own.selectFrom("branding").select(columns));

const insertEmpty = statement((own: TenantDb, { at }: Params<{ at: number }>) =>
  own
    .insertInto("branding")
    .values({ name: null, colour: null, logo: null, logo_type: null, logo_hash: null, updated_at: at })
    .onConflict((conflict) => conflict.column("tenant_id").doNothing()),
);

interface Fields {
  readonly name: string | null;
  readonly colour: string | null;
  readonly at: number;
}

const setFields = statement((own: TenantDb, { name, colour, at }: Params<Fields>) =>
  own.updateTable("branding").set({ name, colour, updated_at: at }),
);

interface StoredLogo {
  readonly logo: string | null;
  readonly type: LogoType | null;
  readonly hash: string | null;
}

const setLogo = statement((own: TenantDb, { logo, type, hash }: Params<StoredLogo>) =>
  own.updateTable("branding").set({ logo, logo_type: type, logo_hash: hash }),
);

const selectByNumber = statement((db: Db, { tenant }: Params<{ tenant: TenantNumber }>) =>
  acrossTenants(db)
    .selectFrom("branding as b")
    .innerJoin("tenants as t", "t.id", "b.tenant_id")
    .select(["b.name", "b.colour", "b.logo_hash", "b.logo_type"])
    .where("t.number", "=", tenant),
);

const selectByHost = statement((db: Db, { host }: Params<{ host: string }>) =>
  acrossTenants(db)
    .selectFrom("branding as b")
    .innerJoin("domains as d", "d.tenant_id", "b.tenant_id")
    .select(["b.name", "b.colour", "b.logo_hash", "b.logo_type"])
    .where("d.host", "=", host)
    .where("d.state", "=", "verified"),
);

const selectLogo = statement((db: Db, { hash }: Params<{ hash: string }>) =>
  acrossTenants(db)
    .selectFrom("branding as b")
    .innerJoin("tenants as t", "t.id", "b.tenant_id")
    .leftJoin("suspended_tenants as s", "s.tenant_id", "b.tenant_id")
    .select(["b.logo", "b.logo_type"])
    .where("b.logo_hash", "=", hash)
    .where("s.tenant_id", "is", null)
    .where("t.delete_at", "is", null),
);
