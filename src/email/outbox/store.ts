import { type Expression, type RawBuilder, sql as raw } from "kysely";
import { type EmailId, idAt, type TenantId } from "../../base/ids.ts";
import { isUniqueViolation, type Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { acrossTenants, type Db, type OwnRow, ofTenant, type TenantDb } from "../../sql/tenant-db.ts";
import type { ProviderName } from "../providers/provider.ts";
import { type MailKind, mailKinds } from "./outbox.ts";

/**
 * The rows of the outbox, and the only ways in which they change. `sender.ts` says what they mean.
 *
 * While a row is `sending`, its `due_at` is when its claim expires, so that one index finds both due and abandoned
 * emails. Every mark names its claim, and changes nothing if that has expired. All times are the database's.
 */
export interface EmailStore {
  /** With a claim it is ours from the start. An email whose key was used before is not stored. */
  insert(row: NewEmail, by?: string): Promise<{ readonly id: EmailId; readonly repeated: boolean }>;
  find(tenant: TenantId, key: string): Promise<EmailId | undefined>;
  /** Whether anything is due, and whether some of it was abandoned. */
  look(): Promise<{ readonly due: boolean; readonly left: boolean }>;
  /** Takes back abandoned emails; returns those with an unknown outcome. */
  recover(): Promise<UnknownOutcome[]>;
  /** The most overdue first. No other process gets them until the claim expires. */
  claim(by: string, most: number): Promise<ClaimedEmail[]>;
  /**
   * Marks the hand-over before it starts, for recovery after a crash; renews the claim. Returns whether the claim is
   * still ours.
   */
  handing(claim: EmailClaim, provider: ProviderName, messageId: string): Promise<boolean>;
  /** Also after the claim has expired, as long as there is no other: it is known now that it was sent. */
  sent(claim: EmailClaim, providerId: string | null): Promise<boolean>;
  failed(claim: EmailClaim, why: FailureReason, what?: "unsure"): Promise<boolean>;
  /** `unsure`: the provider may have it. `asked`: it was not handed over, which does not count as an attempt. */
  back(claim: EmailClaim, inMs: number, why: FailureReason, what?: "unsure" | "asked"): Promise<boolean>;
  remove(claim: EmailClaim): Promise<void>;
  /** Postpones all of a tenant's emails that are due now, or those of some kinds. Bounded per call. */
  postpone(tenant: TenantId, inMs: number, kinds: readonly MailKind[]): Promise<number>;
  waiting(): Promise<{ readonly count: number; readonly oldestDueMs: number }>;
  /** Deletes emails finished before then; returns how many. */
  prune(before: number, limit: number): Promise<number>;
}

export interface NewEmail {
  readonly id: EmailId;
  readonly tenant: TenantId;
  readonly kind: MailKind;
  readonly key: string | null;
  readonly to: string;
  readonly replyTo: string | null;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Which attempt of which email, and whose. */
export interface EmailClaim {
  readonly id: EmailId;
  readonly by: string;
  readonly attempt: number;
}

export interface ClaimedEmail extends EmailClaim {
  readonly tenant: TenantId;
  readonly kind: MailKind;
  readonly to: string;
  readonly replyTo: string | null;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Hand-overs with an unknown outcome so far. */
  readonly unsure: number;
  readonly ageMs: number;
}

export interface UnknownOutcome {
  readonly id: EmailId;
  readonly provider: string | null;
  readonly unsure: number;
}

export interface FailureReason {
  readonly reason: string;
  readonly detail: string;
}

type NewRow = Omit<NewEmail, "tenant" | "key" | "to" | "replyTo"> & {
  readonly dedupe_key: string | null;
  readonly recipient: string;
  readonly reply_to: string | null;
  readonly unsubscribe: 0 | 1;
};

/** 1 if the provider may have the email, 0 if not. */
interface Counts {
  readonly unsure: number;
}

interface Wait {
  readonly inMs: number;
  /** 1 if the email was not handed over, which is not an attempt; otherwise 0. */
  readonly asked: number;
}

/** For a hand-over that may take 30 s; the rest is for the marks around it. */
export const emailClaimMs = 45_000;
/** An email with an unknown outcome is handed over once more, but not before a late answer could be marked. */
export const unsureMost = 2;
export const unsureRetryMs = 60_000;
const postponedMost = 1_000;
const countedMost = 10_000;
const detailMaxChars = 500;

// As in the index: SQLite uses a partial index only if its condition is repeated word for word.
const waiting = raw<boolean>`state in ('queued', 'sending')`;
// Two reads of the clock in one statement may differ.
const clockSlackMs = 1_000;
const wasHanded = raw<boolean>`handed_at >= claimed_until - ${raw.lit(emailClaimMs + clockSlackMs)}`;

export function createEmailStore(sql: Sql): EmailStore {
  const { db, now } = sql;
  // One sender processes the emails of all tenants, and identifies a claimed email by its ID.
  const outbox = (from: Db) => acrossTenants(from);
  // Evaluated once for the whole statement: a clock that is read for every row cannot use an index.
  const once = raw<number>`(select ${now})`;
  const after = (ms: number) => raw<number>`${now} + ${ms}`;
  const unclaimed = { claimed_by: null, claimed_until: null };
  const finished = { ...unclaimed, text: null, html: null, finished_at: now };
  const short = ({ reason, detail }: FailureReason) => ({ reason, detail: detail.slice(0, detailMaxChars) });

  const ours = (from: Db, { id, by, attempt }: Params<EmailClaim>) =>
    outbox(from)
      .updateTable("emails")
      .where("id", "=", id)
      .where("claimed_by", "=", by)
      .where("attempts", "=", attempt)
      .where("state", "=", "sending");

  const isDue = (state: "queued" | "sending") => raw<boolean>`${waiting} and state = ${state} and due_at <= ${once}`;

  /** Due emails, locked for the statement they are part of. */
  const due = (from: Db, state: "queued" | "sending", most: number | Expression<number>) =>
    sql.skipLocked(outbox(from).selectFrom("emails").select("id").where(isDue(state)).orderBy("due_at").limit(most));

  /** Unless the tenant has one with this key. */
  const insertUnless = (own: TenantDb, row: OwnRow<"emails">) =>
    own
      .insertInto("emails")
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(["tenant_id", "dedupe_key"]).where("dedupe_key", "is not", null).doNothing(),
      )
      .returning("id");

  const insertQueued = statement((own: TenantDb, row: Params<NewRow>) =>
    insertUnless(own, { ...row, state: "queued", attempts: 0, unsure: 0, due_at: now, created_at: now }),
  );

  const insertClaimed = statement((own: TenantDb, { by, ...row }: Params<NewRow & { by: string }>) => {
    const claim = { claimed_by: by, claimed_until: after(emailClaimMs), due_at: after(emailClaimMs) };
    return insertUnless(own, { ...row, ...claim, state: "sending", attempts: 1, unsure: 0, created_at: now });
  });

  const selectByKey = statement((own: TenantDb, { key }: Params<{ key: string }>) =>
    own.selectFrom("emails").select("id").where("dedupe_key", "=", key),
  );

  const selectDue = statement((from: Db) =>
    outbox(from)
      .selectFrom("emails")
      .select("state")
      .where(waiting)
      .where("due_at", "<=", once)
      .orderBy("due_at")
      .limit(20),
  );

  const claimDue = statement((from: Db, { by, most }: Params<{ by: string; most: number }>) =>
    outbox(from)
      .with("due_now", () => due(from, "queued", most))
      .updateTable("emails")
      .set({
        state: "sending",
        attempts: raw<number>`attempts + 1`,
        claimed_by: by,
        claimed_until: after(emailClaimMs),
        due_at: after(emailClaimMs),
      })
      .where("id", "in", (query) => query.selectFrom("due_now").select("due_now.id"))
      .returning([
        ...(["id", "tenant_id", "kind", "recipient", "reply_to", "subject", "text", "html"] as const),
        ...(["attempts", "unsure"] as const),
        raw<number>`${now} - created_at`.as("age_ms"),
      ]),
  );

  const setHanded = statement(
    (from: Db, { provider, messageId, ...claim }: Params<EmailClaim & { provider: string; messageId: string }>) =>
      ours(from, claim)
        .where("claimed_until", ">", now)
        .set({ handed_at: now, claimed_until: after(emailClaimMs), due_at: after(emailClaimMs) })
        .set({ provider, message_id: messageId, reason: null, detail: null }),
  );

  const setSent = statement((from: Db, { id, by, attempt, name }: Params<EmailClaim & { name: string | null }>) =>
    outbox(from)
      .updateTable("emails")
      .set({ ...finished, state: "sent", provider_id: name, reason: null, detail: null })
      .where("id", "=", id)
      .where("attempts", "=", attempt)
      .where(waiting)
      .where((is) => is.or([is("claimed_by", "=", by), is("claimed_by", "is", null)])),
  );

  const setFailed = statement(
    (from: Db, { reason, detail, unsure, ...claim }: Params<EmailClaim & FailureReason & Counts>) =>
      ours(from, claim)
        .set({ ...finished, state: "failed", reason, detail })
        .set((column) => ({ unsure: column("unsure", "+", unsure) })),
  );

  const setQueued = statement(
    (from: Db, { inMs, reason, detail, unsure, asked, ...claim }: Params<EmailClaim & FailureReason & Counts & Wait>) =>
      ours(from, claim)
        .set({ ...unclaimed, state: "queued", due_at: raw<number>`${now} + ${inMs}`, reason, detail })
        .set((column) => ({ unsure: column("unsure", "+", unsure), attempts: column("attempts", "-", asked) })),
  );

  const deleteClaimed = statement((from: Db, { id, by }: Params<Pick<EmailClaim, "id" | "by">>) =>
    outbox(from).deleteFrom("emails").where("id", "=", id).where("claimed_by", "=", by),
  );

  const find: EmailStore["find"] = async (tenant, key) => (await selectByKey.first(ofTenant(db, tenant), { key }))?.id;

  return {
    find,

    async insert({ id, tenant, kind, key, to, replyTo, subject, text, html }, by) {
      const own = ofTenant(db, tenant);
      const unsubscribe = mailKinds[kind].stoppable ? (1 as const) : (0 as const);
      const row = { id, kind, dedupe_key: key, recipient: to, reply_to: replyTo, subject, text, html, unsubscribe };
      const written = await (by === undefined
        ? insertQueued.first(own, row)
        : insertClaimed.first(own, { ...row, by }));
      if (written !== undefined) return { id, repeated: false };
      const first = await find(tenant, key ?? "");
      if (first === undefined) throw new Error("the email with this key disappeared meanwhile");
      return { id: first, repeated: true };
    },

    async look() {
      const rows = await selectDue.all(db);
      return { due: rows.length > 0, left: rows.some(({ state }) => state === "sending") };
    },

    async recover() {
      const again = raw<boolean>`unsure + 1 < ${raw.lit(unsureMost)}`;
      const ifAgain = <Value>(value: RawBuilder<Value>, otherwise: RawBuilder<Value>) =>
        raw<Value>`case when ${again} then ${value} else ${otherwise} end`;
      const unknown = await outbox(db)
        .with("left_behind", () => due(db, "sending", postponedMost).where(wasHanded))
        .updateTable("emails")
        .set({
          ...unclaimed,
          unsure: raw<number>`unsure + 1`,
          state: ifAgain(raw`'queued'`, raw`'failed'`),
          due_at: after(unsureRetryMs),
          text: ifAgain(raw`text`, raw`null`),
          html: ifAgain(raw`html`, raw`null`),
          finished_at: ifAgain(raw`null`, now),
          reason: "unsure",
          detail: "the sending process ended before it knew the outcome",
        })
        .where("id", "in", (query) => query.selectFrom("left_behind").select("left_behind.id"))
        .returning(["id", "provider", "unsure"])
        .execute();
      await outbox(db)
        .with("left_behind", () =>
          due(db, "sending", postponedMost).where(raw<boolean>`(handed_at is null or not ${wasHanded})`),
        )
        .updateTable("emails")
        .set({ ...unclaimed, state: "queued", due_at: now })
        .where("id", "in", (query) => query.selectFrom("left_behind").select("left_behind.id"))
        .execute();
      return unknown;
    },

    async claim(by, most) {
      const rows = await claimDue.all(db, { by, most });
      return rows.map((row) => ({
        ...{ id: row.id, by, attempt: row.attempts, tenant: row.tenant_id, kind: row.kind as MailKind },
        ...{ to: row.recipient, replyTo: row.reply_to, subject: row.subject },
        ...{ text: row.text ?? "", html: row.html ?? "", unsure: row.unsure, ageMs: row.age_ms },
      }));
    },

    async handing({ id, by, attempt }, provider, messageId) {
      return (await setHanded.run(db, { id, by, attempt, provider, messageId })) > 0;
    },

    async sent({ id, by, attempt }, providerId) {
      const mark = async (name: string | null) => (await setSent.run(db, { id, by, attempt, name })) > 0;
      try {
        return await mark(providerId);
      } catch (error) {
        // A provider that uses a name twice must not make us send twice.
        if (providerId === null || !isUniqueViolation(error)) throw error;
        return await mark(null);
      }
    },

    async failed({ id, by, attempt }, why, what) {
      return (await setFailed.run(db, { id, by, attempt, ...short(why), unsure: what === "unsure" ? 1 : 0 })) > 0;
    },

    async back({ id, by, attempt }, inMs, why, what) {
      const counts = { unsure: what === "unsure" ? 1 : 0, asked: what === "asked" ? 1 : 0 };
      return (await setQueued.run(db, { id, by, attempt, inMs, ...short(why), ...counts })) > 0;
    },

    async remove({ id, by }) {
      await deleteClaimed.run(db, { id, by });
    },

    async postpone(tenant, inMs, kinds) {
      const own = ofTenant(db, tenant).selectFrom("emails").select("id").where(isDue("queued"));
      const { numUpdatedRows } = await outbox(db)
        .with("due_now", () =>
          sql.skipLocked(
            own
              .where("kind", "in", [...kinds])
              .orderBy("due_at")
              .limit(postponedMost),
          ),
        )
        .updateTable("emails")
        .set({ due_at: after(inMs), reason: "limited" })
        .where("id", "in", (query) => query.selectFrom("due_now").select("due_now.id"))
        .executeTakeFirstOrThrow();
      return Number(numUpdatedRows);
    },

    async waiting() {
      const { count, age } = await outbox(db)
        .selectFrom((query) =>
          query.selectFrom("emails").select("due_at").where(waiting).orderBy("due_at").limit(countedMost).as("first"),
        )
        .select((expression) => [
          expression.fn.countAll<number>().as("count"),
          raw<number | null>`${now} - min(due_at)`.as("age"),
        ])
        .executeTakeFirstOrThrow();
      return { count, oldestDueMs: Math.max(0, age ?? 0) };
    },

    async prune(before, limit) {
      const { numDeletedRows } = await outbox(db)
        .deleteFrom("emails")
        .where("id", "in", (query) =>
          query
            .selectFrom("emails")
            .select("id")
            // IDs start with their creation time: newer rows are not even read.
            .where("id", "<", idAt("email", before))
            .where("finished_at", "<", before)
            .limit(limit),
        )
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    },
  };
}
