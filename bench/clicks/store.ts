/** Ways to write millions of rows: as SQLite statements of many rows, and as PostgreSQL's binary copies. */
import { Database as Sqlite } from "bun:sqlite";
import { chmodSync, closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { CompiledQuery } from "kysely";
import type { Sql } from "../../src/sql/sql.ts";
import { tempFolder } from "../../test/ground/temp.ts";
import { eventColumns, width } from "./make-events.ts";

/** A row of `click_rollups`, in the order of its columns. */
export type RollupRow = readonly (number | string | Uint8Array)[];

const rollupColumns = [
  ...["subject", "grain", "start", "until", "reasons", "visitors", "itemised", "series"],
  ...["facts", "packed", "names", "people_bytes"],
];

const isShort = rollupColumns.map((name) => name === "people_bytes");

export interface RowStore {
  events(rows: Float64Array, count: number): void;
  rollup(row: RollupRow): void;
  /** Writes what is left: at the end of a day of events, or of the roll-ups. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const rowsAtOnce = 40;

export function sqliteStore(path: string): RowStore {
  const database = new Sqlite(path);
  for (const pragma of ["journal_mode = off", "synchronous = off", "cache_size = -200000"]) {
    database.run(`pragma ${pragma}`);
  }
  const marks = `(${eventColumns.map(() => "?").join(", ")})`;
  const into = `insert into clicks (${eventColumns.join(", ")}) values `;
  const many = database.prepare(into + Array(rowsAtOnce).fill(marks).join(", "));
  const one = database.prepare(into + marks);
  const rollups = database.prepare(
    `insert into click_rollups (${rollupColumns.join(", ")}) values (${rollupColumns.map(() => "?").join(", ")})`,
  );
  database.run("begin");
  return {
    events(rows, count) {
      let n = 0;
      for (; n + rowsAtOnce <= count; n += rowsAtOnce) {
        many.run(...rows.subarray(n * width, (n + rowsAtOnce) * width));
      }
      for (; n < count; n++) one.run(...rows.subarray(n * width, (n + 1) * width));
    },
    rollup: (row) => void rollups.run(...row),
    async flush() {
      database.run("commit");
      database.run("begin");
    },
    async close() {
      database.run("commit");
      for (const statement of [many, one, rollups]) statement.finalize();
      database.run("pragma journal_mode = wal");
      database.close();
    },
  };
}

const wide: readonly string[] = ["link", "at", "seq"];
const bytesOf = eventColumns.map((name) => (wide.includes(name) ? 8 : name === "level" ? 2 : 4));
const eventBytes = 2 + bytesOf.reduce((sum, bytes) => sum + 4 + bytes, 0);
const head = Buffer.concat([Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"), Buffer.alloc(8)]);
const end = Buffer.from([0xff, 0xff]);

/** The server reads the file while the next one is written. */
export function postgresStore(sql: Sql): RowStore {
  const folder = tempFolder("copy");
  chmodSync(folder, 0o755); // the server may run as another user
  let buffer = Buffer.alloc(0);
  const rollups = Buffer.alloc(4_000_000);
  let filled = 0;
  let copying: Promise<unknown> = Promise.resolve();
  let files = 0;
  let file: { path: string; handle: number; into: string } | undefined;

  function open(into: string): number {
    if (file?.into !== into) {
      if (file !== undefined) throw new Error("flush before other rows are written");
      const path = join(folder, String(files++));
      const handle = openSync(path, "w", 0o644);
      writeSync(handle, head);
      file = { path, handle, into };
    }
    return file.handle;
  }

  function drain(): void {
    if (filled > 0) writeSync(open(`click_rollups (${rollupColumns.join(", ")})`), rollups, 0, filled);
    filled = 0;
  }

  return {
    events(rows, count) {
      if (buffer.length < count * eventBytes) buffer = Buffer.alloc(count * eventBytes);
      let [at, from] = [0, 0];
      for (let n = 0; n < count; n++) {
        at = buffer.writeInt16BE(width, at);
        for (let column = 0; column < width; column++) {
          const value = rows[from++] ?? 0;
          const bytes = bytesOf[column];
          at = buffer.writeInt32BE(bytes ?? 0, at);
          if (bytes === 4) at = buffer.writeInt32BE(value, at);
          else if (bytes === 2) at = buffer.writeInt16BE(value, at);
          else {
            at = buffer.writeInt32BE(Math.floor(value / 2 ** 32), at);
            at = buffer.writeUInt32BE(value % 2 ** 32, at);
          }
        }
      }
      writeSync(open(`clicks (${eventColumns.join(", ")})`), buffer, 0, at);
    },
    rollup(row) {
      const longest = row.reduce(
        (sum: number, value) => sum + 12 + (typeof value === "number" ? 0 : 3 * value.length),
        2,
      );
      if (filled + longest > rollups.length) drain();
      filled = rollups.writeInt16BE(row.length, filled);
      for (const [column, value] of row.entries()) {
        if (typeof value === "string") {
          const bytes = rollups.write(value, filled + 4);
          filled = rollups.writeInt32BE(bytes, filled) + bytes;
        } else if (typeof value === "object") {
          filled = rollups.writeInt32BE(value.length, filled);
          rollups.set(value, filled);
          filled += value.length;
        } else if (isShort[column]) {
          filled = rollups.writeInt32BE(value, rollups.writeInt32BE(4, filled));
        } else {
          filled = rollups.writeInt32BE(8, filled);
          filled = rollups.writeInt32BE(Math.floor(value / 2 ** 32), filled);
          filled = rollups.writeUInt32BE(value - Math.floor(value / 2 ** 32) * 2 ** 32, filled);
        }
      }
    },
    async flush() {
      drain();
      await copying;
      if (file === undefined) return;
      const { path, handle, into } = file;
      writeSync(handle, end);
      closeSync(handle);
      file = undefined;
      copying = sql.db
        .executeQuery(CompiledQuery.raw(`copy ${into} from '${path}' with (format binary)`))
        .finally(() => unlinkSync(path));
    },
    async close() {
      await this.flush();
      await copying;
    },
  };
}
