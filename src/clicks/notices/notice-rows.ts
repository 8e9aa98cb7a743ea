import { sql as raw } from "kysely";
import { dayMs, toIso } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import type { NoticeKind } from "../../email/settings/notice-kinds.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { hourMs } from "../reports/zones.ts";

/**
 * What a tenant is told about its links, as rows: each is told once, in an email that has all that wait for it.
 *
 * 1. `note` adds a row; as told already, if it only must not be found again. A link that has one already is not noted again while it is there: a spike that goes on is one.
 * 2. `dropOutdated` drops what has waited for too long to be news.
 * 3. `plan` gives the rows that wait the key of the next email: one for each period of its kind. Once a row has the key, no
 *    other gets it, so the content of an email is fixed before it is written, whoever writes it.
 * 4. `stillNews` drops what is no longer true (`still-news.ts`).
 * 5. The email is put into the outbox, which knows by the key whether it was, and `tell` marks the rows.
 *
 * A process that dies in between leaves rows with a key that are not told. The next run finds them in `planned`, and the
 * outbox refuses the second email with this key.
 */
export interface NoticeRow {
  readonly link: LinkNumber | 0;
  readonly since: number;
  readonly facts: string;
}

export interface PlannedMail {
  readonly kind: NoticeKind;
  readonly key: string;
  readonly rows: readonly NoticeRow[];
}

export type LinkNotice = Exclude<NoticeKind, "digest">;

/** At most one email of a kind in each of these. */
export const mailPeriodMs: Readonly<Record<LinkNotice, number>> = {
  firstClick: 6 * hourMs,
  spike: 3 * hourMs,
  drop: 6 * hourMs,
  deadTarget: 24 * hourMs,
};

export const mailKeyOf = (kind: LinkNotice, now: number): string =>
  `${kind}:${toIso(now - (now % mailPeriodMs[kind]))}`;

/**
 * What has waited for longer is not told: the contact was removed, the workspace was suspended, or the server was off. A first
 * click and a dead destination are still of interest when a spike is long over. A destination that is still dead is noted again,
 * with the clicks of that week.
 */
const newsForMs: Readonly<Record<LinkNotice, number>> = {
  firstClick: 3 * dayMs,
  spike: dayMs,
  drop: dayMs,
  deadTarget: 7 * dayMs,
};

/** The others wait for the next email. */
const rowsPerMail = 100;
const mailsAtOnce = 20;

export async function note(
  { db }: Sql,
  tenant: TenantId,
  kind: NoticeKind,
  rows: readonly NoticeRow[],
  now: number,
  told: 0 | 1 = 0,
): Promise<void> {
  if (rows.length === 0) return;
  await ofTenant(db, tenant)
    .insertInto("click_notices")
    .values(rows.map((row) => ({ ...row, kind, seen_at: now, mail: null, told })))
    .onConflict((conflict) => conflict.columns(["tenant_id", "kind", "link"]).doNothing())
    .execute();
}

/** It goes on. */
export async function noteAgain(
  { db }: Sql,
  tenant: TenantId,
  kind: LinkNotice,
  links: readonly LinkNumber[],
  now: number,
) {
  if (links.length === 0) return;
  await ofTenant(db, tenant)
    .updateTable("click_notices")
    .set({ seen_at: now })
    .where("kind", "=", kind)
    .where("link", "in", links)
    .execute();
}

/** What was told and not seen since then is over: if it happens again, it is told again. */
export async function endOld({ db }: Sql, tenant: TenantId, kind: LinkNotice, before: number): Promise<void> {
  await ofTenant(db, tenant)
    .deleteFrom("click_notices")
    .where("kind", "=", kind)
    .where("told", "=", 1)
    .where("seen_at", "<", before)
    .execute();
}

export async function end(
  { db }: Sql,
  tenant: TenantId,
  kind: LinkNotice,
  links: readonly LinkNumber[],
): Promise<void> {
  if (links.length === 0) return;
  const own = ofTenant(db, tenant).deleteFrom("click_notices").where("kind", "=", kind);
  await own.where("link", "in", links).execute();
}

/** What waits is dropped when its kind is switched off. */
export async function dropWaiting({ db }: Sql, tenant: TenantId, kind: LinkNotice): Promise<void> {
  const own = ofTenant(db, tenant).deleteFrom("click_notices").where("kind", "=", kind);
  await own.where("told", "=", 0).execute();
}

/** What is news no longer is dropped, unless the outbox has its email: then it was told, and must not be found again. */
export async function dropOutdated({ db }: Sql, tenant: TenantId, kind: LinkNotice, now: number): Promise<void> {
  const own = ofTenant(db, tenant);
  const sent = own.selectFrom("emails as e").select("e.id").where("e.dedupe_key", "=", raw<string>`click_notices.mail`);
  await own
    .deleteFrom("click_notices")
    .where("kind", "=", kind)
    .where("told", "=", 0)
    .where("since", "<", now - newsForMs[kind])
    .where((row) => row.not(row.exists(sent)))
    .execute();
}

export async function plan(sql: Sql, tenant: TenantId, kind: LinkNotice, now: number): Promise<void> {
  const key = mailKeyOf(kind, now);
  const waiting = await ofTenant(sql.db, tenant)
    .selectFrom("click_notices")
    .select("link")
    .where("kind", "=", kind)
    .where("mail", "is", null)
    .where("told", "=", 0)
    .limit(1)
    .execute();
  if (waiting.length === 0) return;
  await sql.transaction(async (trx) => {
    const own = ofTenant(trx, tenant);
    // The lock of a tenant's notices: two processes must not fill the same email.
    await sql.forUpdate(own.selectFrom("email_settings").select("updated_at")).execute();
    const rows = () => own.selectFrom("click_notices").select("link").where("kind", "=", kind);
    if ((await rows().where("mail", "=", key).limit(1).execute()).length > 0) return;
    const sent = await own.selectFrom("emails").select("id").where("dedupe_key", "=", key).execute();
    if (sent.length > 0) return;
    const chosen = await rows()
      .where("mail", "is", null)
      .where("told", "=", 0)
      .orderBy("since")
      .orderBy("link")
      .limit(rowsPerMail)
      .execute();
    await own
      .updateTable("click_notices")
      .set({ mail: key })
      .where("kind", "=", kind)
      .where(
        "link",
        "in",
        chosen.map(({ link }) => link),
      )
      .execute();
  });
}

/** Emails that are planned and not known to be in the outbox. */
export async function planned({ db }: Sql, tenant: TenantId): Promise<PlannedMail[]> {
  const rows = await ofTenant(db, tenant)
    .selectFrom("click_notices")
    .select(["kind", "mail", "link", "since", "facts"])
    .where("told", "=", 0)
    .where("mail", "is not", null)
    .orderBy("since")
    .orderBy("link")
    .limit(rowsPerMail * mailsAtOnce)
    .execute();
  return [...Map.groupBy(rows, ({ mail }) => mail ?? "")].map(([key, rows]) => ({
    kind: rows[0]?.kind ?? "digest",
    key,
    rows,
  }));
}

export async function tell({ db }: Sql, tenant: TenantId, key: string): Promise<void> {
  await ofTenant(db, tenant).updateTable("click_notices").set({ told: 1 }).where("mail", "=", key).execute();
}
