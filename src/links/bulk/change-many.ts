import { Problem } from "../../base/errors.ts";
import type { FileId, LinkId, TenantId } from "../../base/ids.ts";
import { type Actor, type HistoryEntry, recordEach } from "../../history/history.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { ofTenant, type TenantDb } from "../../sql/tenant-db.ts";
import { raiseVersions } from "../../sql/versions.ts";
import { fileGone } from "../create/refusals.ts";
import { cacheKey, type Link, type LinkFields } from "../link.ts";
import { changedFields, identityOf } from "../past/changed-fields.ts";
import { trimEvery, trimPast } from "../past/link-history.ts";
import { fieldColumns, lockFiles, toLink, withVersion } from "../rows.ts";
import { moveToTrash } from "../trash/trash-store.ts";

/** Edits and deletions of several links in one transaction. */
export interface ManyChange {
  readonly id: LinkId;
  /** Decides when the link is locked, and may throw a problem: then this link stays as it is. Null: it is deleted. */
  readonly decide: (link: Link) => LinkFields | null;
  /** A file that it may lead to afterwards, and did not before. */
  readonly file?: FileId | null;
  /** It goes back to this version. */
  readonly undoTo?: number;
}

export type ManyOutcome =
  | { readonly kind: "changed"; readonly before: Link; readonly link: Link }
  | { readonly kind: "unchanged"; readonly link: Link }
  | { readonly kind: "missing" }
  | { readonly kind: "failed"; readonly problem: Problem };

/** Locks in the order of `sql/versions.ts`: files, the links by ID, then versions. */
export function createChangeMany(sql: Sql) {
  const lockLinks = statement((own: TenantDb, { ids }: Params<{ ids: readonly LinkId[] }>) =>
    sql.forUpdate(own.selectFrom("links").select("id").where("id", "in", ids).orderBy("id")),
  );

  return (tenant: TenantId, changes: readonly ManyChange[], by: Actor, at: number): Promise<ManyOutcome[]> =>
    changes.length === 0
      ? Promise.resolve([])
      : sql.transaction(async (trx) => {
          const own = ofTenant(trx, tenant);
          const ids = changes.map(({ id }) => id);
          const wanted = changes.map(({ file = null }) => ({ file }));
          const files: ReadonlySet<FileId> = await lockFiles(sql, trx, tenant, wanted);
          await lockLinks.all(own, { ids });
          const links = new Map((await selectLinks.all(own, { ids })).map((row) => [row.id, toLink(row)]));
          const decided = changes.map((change) => decide(links.get(change.id), change, files));
          const places = decided.flatMap((one) => (one.kind === "to do" ? [one.link] : []));
          if (places.length === 0) return decided.map(settled);
          const raised = await raiseVersions(sql, trx, { links: places, state: "live" }, at);
          const versions = new Map(raised.map(({ domain, code, version }) => [cacheKey(domain, code), version]));
          const entries: Omit<HistoryEntry, "tenant">[] = [];
          const outcomes: ManyOutcome[] = [];
          for (const [place, one] of decided.entries()) {
            if (one.kind !== "to do") {
              outcomes.push(settled(one));
              continue;
            }
            const { link: before, fields } = one;
            const version = versions.get(cacheKey(before.domain, before.code));
            if (version === undefined) throw new Error("a link without a version");
            const link = { ...before, ...fields, version, updatedAt: at };
            const about = {
              ...{ actor: by, version },
              subject: { kind: "link", id: link.id, name: cacheKey(link.domain, link.code) },
            };
            if (fields === null) {
              await moveToTrash(trx, tenant, link.id, at);
              entries.push({ ...about, action: "link.delete", before: identityOf(before) });
            } else {
              await setFields.run(own, { id: link.id, at, ...fieldColumns(fields) });
              const changed = changedFields(before, link, false);
              const undoTo = changes[place]?.undoTo;
              entries.push(
                undoTo === undefined
                  ? { ...about, action: "link.update", ...changed }
                  : { ...about, action: "link.undo", ...changed, after: { ...changed?.after, undoTo } },
              );
              if (version % trimEvery === 0) await trimPast(trx, tenant, link.id);
            }
            outcomes.push({ kind: "changed", before, link });
          }
          await recordEach(trx, { now: () => at }, tenant, entries);
          return outcomes;
        });
}

type Decided =
  | { readonly kind: "to do"; readonly link: Link; readonly fields: LinkFields | null }
  | Exclude<ManyOutcome, { readonly kind: "changed" }>;

function decide(link: Link | undefined, change: ManyChange, files: ReadonlySet<FileId>): Decided {
  if (link === undefined) return { kind: "missing" };
  try {
    const fields = change.decide(link);
    if (fields === null) return { kind: "to do", link, fields };
    if (fields.file !== null && fields.file !== link.file && !files.has(fields.file)) throw fileGone();
    const edited = { ...link, ...fields };
    return changedFields(link, edited, false) === undefined
      ? { kind: "unchanged", link }
      : { kind: "to do", link, fields };
  } catch (error) {
    if (error instanceof Problem) return { kind: "failed", problem: error };
    throw error;
  }
}

function settled(one: Decided): ManyOutcome {
  if (one.kind === "to do") throw new Error("a change that was not made");
  return one;
}

const selectLinks = statement((own: TenantDb, { ids }: Params<{ ids: readonly LinkId[] }>) =>
  withVersion(own).where("links.id", "in", ids),
);

type Fields = ReturnType<typeof fieldColumns> & { readonly id: LinkId; readonly at: number };

const setFields = statement((own: TenantDb, { id, at, ...fields }: Params<Fields>) =>
  own
    .updateTable("links")
    .set({ ...fields, updated_at: at })
    .where("id", "=", id),
);
