import type { Selectable } from "kysely";
import type { Clock } from "../base/clock.ts";
import { newId, type ReportId } from "../base/ids.ts";
import type { AbuseReason, AbuseReportTable, AbuseState } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
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
  close(link: Place, state: Exclude<AbuseState, "open">, by: string): Promise<number>;
  /** Closes one report; false if it was not open. */
  dismiss(id: ReportId, by: string): Promise<boolean>;
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
const openPerLink = 20;
const openMost = 10_000;

export function createReports(sql: Sql, clock: Clock): Reports {
  const { db } = sql;

  const open = () => db.selectFrom("abuse_reports").select("id").where("state", "=", "open");

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

    async close({ domain, code }, state, by) {
      const { numUpdatedRows } = await db
        .updateTable("abuse_reports")
        .set({ state, closed_at: clock.now(), closed_by: by })
        .where("domain", "=", domain)
        .where("code", "=", code)
        .where("state", "=", "open")
        .executeTakeFirst();
      return Number(numUpdatedRows);
    },

    async dismiss(id, by) {
      const { numUpdatedRows } = await db
        .updateTable("abuse_reports")
        .set({ state: "dismissed", closed_at: clock.now(), closed_by: by })
        .where("id", "=", id)
        .where("state", "=", "open")
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

function toReport(row: Selectable<AbuseReportTable>): Report {
  const { created_at: createdAt, closed_at: closedAt, closed_by: closedBy, ...rest } = row;
  return { ...rest, createdAt, closedAt, closedBy };
}
