import type { Selectable } from "kysely";
import type { Clock } from "../base/clock.ts";
import { newId, type ReportId } from "../base/ids.ts";
import { type Actor, type HistoryEntry, recordHistory, wordFor } from "../history/history.ts";
import { cacheKey } from "../links/link.ts";
import type { AbuseReason, AbuseReportTable, AbuseState } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import type { Trx } from "../sql/tenant-db.ts";
import type { Place } from "../sql/versions.ts";

/** Abuse reports waiting for the operator. Strangers write here, so their number is bounded. */
export interface Reports {
  /**
   * `enough`: this link has enough open reports; `full`: there are too many in total. In both cases nothing is stored.
   */
  add(report: NewReport): Promise<"added" | "enough" | "full">;
  /** Oldest first. */
  list(state: AbuseState, limit: number): Promise<Report[]>;
  get(id: ReportId): Promise<Report | undefined>;
  /** Closes all open reports about this link; returns how many. */
  close(link: Place, state: ClosedState, by: Actor): Promise<number>;
  /** Closes one report; false if it was not open. */
  dismiss(id: ReportId, by: Actor): Promise<boolean>;
}

export interface NewReport extends Place {
  readonly reason: AbuseReason;
  readonly details: string | null;
  readonly email: string | null;
  /** The link's current destination. */
  readonly url: string;
}

export interface Report extends Omit<NewReport, "url"> {
  readonly id: ReportId;
  readonly url: string | null;
  readonly state: AbuseState;
  readonly createdAt: number;
  readonly closedAt: number | null;
  readonly closedBy: string | null;
}

export const abuseReasons: readonly AbuseReason[] = ["phishing", "malware", "spam", "illegal", "other"];
type ClosedState = Exclude<AbuseState, "open">;

const openPerLink = 20;
const openMost = 10_000;

export function createReports(sql: Sql, clock: Clock): Reports {
  const { db } = sql;

  const open = () => db.selectFrom("abuse_reports").select("id").where("state", "=", "open");

  const closing = (trx: Trx, state: ClosedState, by: Actor) =>
    trx
      .updateTable("abuse_reports")
      .set({ state, closed_at: clock.now(), closed_by: wordFor(by) })
      .where("state", "=", "open");

  /** In the operator's log: reports are not for the owner of the link. */
  const record = (
    trx: Trx,
    actor: Actor,
    state: ClosedState,
    subject: HistoryEntry["subject"],
    more: Readonly<Record<string, number>>,
  ) => {
    const action = `abuse.${state === "suspended" ? "suspend" : "dismiss"}`;
    return recordHistory(trx, clock, { tenant: "", actor, action, subject, after: { state, ...more } });
  };

  return {
    async add({ domain, code, reason, details, email, url }) {
      // Two at the same moment may both be the last one: the bounds protect space, not fairness.
      const about = await open().where("domain", "=", domain).where("code", "=", code).limit(openPerLink).execute();
      if (about.length >= openPerLink) return "enough";
      if (
        await open()
          .orderBy("id")
          .offset(openMost - 1)
          .limit(1)
          .executeTakeFirst()
      )
        return "full";
      await db
        .insertInto("abuse_reports")
        .values({
          ...{ id: newId("report", clock), domain, code, reason, details, email, url, state: "open" },
          ...{ created_at: clock.now(), closed_at: null, closed_by: null },
        })
        .execute();
      return "added";
    },

    async list(state, limit) {
      const rows = await db
        .selectFrom("abuse_reports")
        .selectAll()
        .where("state", "=", state)
        .orderBy("id")
        .limit(limit)
        .execute();
      return rows.map(toReport);
    },

    async get(id) {
      const row = await db.selectFrom("abuse_reports").selectAll().where("id", "=", id).executeTakeFirst();
      return row && toReport(row);
    },

    close: ({ domain, code }, state, by) =>
      sql.transaction(async (trx) => {
        const about = closing(trx, state, by).where("domain", "=", domain).where("code", "=", code);
        const reports = Number((await about.executeTakeFirst()).numUpdatedRows);
        const name = cacheKey(domain, code);
        if (reports > 0) await record(trx, by, state, { kind: "reported link", id: name, name }, { reports });
        return reports;
      }),

    dismiss: (id, by) =>
      sql.transaction(async (trx) => {
        const { numUpdatedRows } = await closing(trx, "dismissed", by).where("id", "=", id).executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await record(trx, by, "dismissed", { kind: "report", id }, {});
        return true;
      }),
  };
}

function toReport(row: Selectable<AbuseReportTable>): Report {
  const { created_at: createdAt, closed_at: closedAt, closed_by: closedBy, ...rest } = row;
  return { ...rest, createdAt, closedAt, closedBy };
}
