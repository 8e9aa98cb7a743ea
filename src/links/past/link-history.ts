import type { LinkId, TenantId } from "../../base/ids.ts";
import type { HistoryRecord } from "../../history/log.ts";
import { historyColumns, toHistoryRecord } from "../../history/log.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { ofTenant, type TenantDb, type Trx } from "../../sql/tenant-db.ts";
import type { Link, LinkFields } from "../link.ts";
import { ownerFields } from "./changed-fields.ts";

/**
 * The past of a link. Each edit has what its fields were before, so the fields at an older version are those of today with
 * the edits since then taken back, newest first. Rows are in the order of versions: the times of two servers can differ.
 */
export interface LinkPast {
  /** Changes of a link that exists or is in the trash, newest first. `below`: the last version of the previous page. */
  changes(tenant: TenantId, id: LinkId, limit: number, below?: number): Promise<HistoryRecord[]>;
  /** Undefined if the history does not reach back to that version, or it is not an older one. */
  fieldsAt(link: Link, version: number): Promise<LinkFields | undefined>;
  /** Who created it and when; undefined if it is neither a link nor in the trash. */
  creation(tenant: TenantId, id: LinkId): Promise<LinkCreation | undefined>;
}

export interface LinkCreation {
  readonly domain: string;
  readonly code: string;
  readonly at: number;
  readonly madeByKind: string | null;
  readonly madeBy: string | null;
  readonly version: number;
}

/** What is kept of one link: enough for two edits a minute over days, and an end for a program that edits for ever. */
export const changesMost = 10_000;
export const trimEvery = 100;
const pageRows = 500;
/** These say what the fields of the owner were before. */
const edits = new Set(["link.update", "link.undo", "link.restore"]);

export function createLinkPast({ db }: Sql): LinkPast {
  const changes: LinkPast["changes"] = async (tenant, id, limit, below = Number.MAX_SAFE_INTEGER) =>
    (await selectChanges.all(ofTenant(db, tenant), { id, below, limit })).map(toHistoryRecord);

  return {
    changes,

    async fieldsAt(link, version) {
      if (version >= link.version) return undefined;
      let fields: LinkFields = ownerFields(link);
      let oldest = link.version + 1;
      for (;;) {
        const rows = await changes(link.tenantId, link.id, pageRows, oldest);
        for (const row of rows) {
          const { version: raised } = row;
          if (raised === null || raised <= version) return fields;
          oldest = raised;
          if (edits.has(row.action)) fields = ownerFields({ ...fields, ...row.before });
        }
        // Before the oldest known change nothing is known, except that it made the next version of what it found.
        if (rows.length < pageRows) return version < oldest - 1 ? undefined : fields;
      }
    },

    async creation(tenant, id) {
      const own = ofTenant(db, tenant);
      const row = (await selectCreation.first(own, { id })) ?? (await trashedCreation(own, id));
      if (row === undefined) return undefined;
      const { domain, code, created_at: at, made_by_kind: madeByKind, made_by: madeBy, version } = row;
      return { domain, code, at, madeByKind, madeBy, version };
    },
  };
}

/** Bounds the rows of one link, in the transaction of an edit. */
export async function trimPast(trx: Trx, tenant: TenantId, id: LinkId, most = changesMost): Promise<void> {
  const own = ofTenant(trx, tenant);
  const rows = own.selectFrom("history").select("version").where("subject_id", "=", id).orderBy("version", "desc");
  const beyond = await rows.offset(most).limit(1).executeTakeFirst();
  const last = beyond?.version ?? null;
  if (last === null) return;
  await own.deleteFrom("history").where("subject_id", "=", id).where("version", "<=", last).execute();
}

async function trashedCreation(own: TenantDb, id: LinkId) {
  const row = await selectTrashed.first(own, { id });
  if (row === undefined) return undefined;
  const { created_at, made_by_kind, made_by } = JSON.parse(row.link) as CreationRow;
  return { created_at, made_by_kind, made_by, version: row.version, domain: row.domain, code: row.code };
}

interface CreationRow {
  readonly created_at: number;
  readonly made_by_kind: string | null;
  readonly made_by: string | null;
}

interface Page {
  readonly id: LinkId;
  readonly below: number;
  readonly limit: number;
}

const selectChanges = statement((own: TenantDb, { id, below, limit }: Params<Page>) =>
  own
    .selectFrom("history")
    .select(historyColumns)
    .where("subject_id", "=", id)
    .where("version", "<", below)
    .orderBy("version", "desc")
    .limit(limit),
);

const selectCreation = statement((own: TenantDb, { id }: Params<{ id: LinkId }>) =>
  own
    .selectFrom("links")
    .innerJoin("link_versions", (join) =>
      join.onRef("link_versions.domain", "=", "links.domain").onRef("link_versions.code", "=", "links.code"),
    )
    .select([
      "links.domain",
      "links.code",
      "links.created_at",
      "links.made_by_kind",
      "links.made_by",
      "link_versions.version",
    ])
    .where("links.id", "=", id),
);

const selectTrashed = statement((own: TenantDb, { id }: Params<{ id: LinkId }>) =>
  own
    .selectFrom("trashed_links")
    .innerJoin("link_versions", (join) =>
      join
        .onRef("link_versions.domain", "=", "trashed_links.domain")
        .onRef("link_versions.code", "=", "trashed_links.code"),
    )
    .select(["trashed_links.domain", "trashed_links.code", "trashed_links.link", "link_versions.version"])
    .where("trashed_links.id", "=", id),
);
