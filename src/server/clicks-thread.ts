import { messageOf } from "../base/errors.ts";
import type { ClickBatch } from "../clicks/click.ts";
import { type ClickWriter, createClickWriter } from "../clicks/events/writer.ts";
import type { Sql } from "../sql/sql.ts";
import { openSqlite } from "../sql/sqlite.ts";
import type { BatchLists, FromClicksThread, SentBatch, ThreadSettings, ToClicksThread } from "./clicks.ts";

/** The other side of `clicks.ts`: writes batches to SQLite, one at a time, with its own connection. */
declare const self: {
  onmessage: (event: MessageEvent<ToClicksThread>) => void;
  postMessage(message: FromClicksThread): void;
};

/** SQLite has no queue of writers, and others try again every millisecond: so long, some of them get their turn. */
const pauseMs = 6;

let settings: ThreadSettings | undefined;
let sql: Sql | undefined;
let writer: ClickWriter | undefined;

self.onmessage = ({ data: message }) => void handle(message);

async function handle(message: ToClicksThread): Promise<void> {
  if (message.kind === "open") settings = message;
  else if (message.kind === "write") await write(message.sequence, message.batch);
  else {
    await sql?.close().catch(() => {});
    self.postMessage({ kind: "closed" });
  }
}

async function write(sequence: number, { lists, ...columns }: SentBatch): Promise<void> {
  try {
    writer ??= open();
    const batch: ClickBatch = { ...columns, ...(JSON.parse(lists) as BatchLists) };
    self.postMessage({ kind: "written", sequence, written: await writer.write(sequence, batch) });
  } catch (error) {
    self.postMessage({ kind: "failed", sequence, message: messageOf(error) });
  }
}

/** With the first batch, so that a database that cannot be opened now may be with the next one. */
function open(): ClickWriter {
  if (settings === undefined) throw new Error("the thread of clicks received a batch before its settings");
  const { path, secret, writerId, eventsPerSecond } = settings;
  sql = openSqlite(path, "normal");
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, pauseMs));
  return createClickWriter({ sql, secret, writerId, eventsPerSecond, pause });
}
