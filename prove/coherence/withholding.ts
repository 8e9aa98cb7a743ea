/**
 * A proxy to PostgreSQL that can withhold an answer: the commit of a change is passed on, and nothing comes back. For
 * the waiting client the commit has not happened; everyone else can see that it has. It can also hold the commit itself
 * for a while, and let answers come late.
 */
import { connect, createServer, type Socket } from "node:net";
import type { Postgres } from "../../test/ground/postgres.ts";

export interface Withholding {
  /** The same database, by this way. */
  url(direct: string): string;
  /** From the next change on. */
  withhold(): void;
  /** Holds the commit of the next change. */
  hold(): Held;
  /** Answers come this much later: those to lookups, or all, also those to the feed. */
  slow(ms: number, which?: Late): void;
  /** New connections are as they should be again. */
  passOn(): void;
  close(): void;
}

export type Late = "lookups" | "everything";

export interface Held {
  /** Everything but the commit was done. */
  readonly reached: Promise<void>;
  release(): void;
}

const commit = /\bcommit\b/i;
/**
 * A prepared statement shows its text once per connection; its name, which follows from the text, is in every run. The
 * length of the message is in front of the name, and its last byte may look like a letter.
 */
const prepared = /(ql_[0-9a-f]+)\0insert into "changes"/g;

export async function withholdingCommits(postgres: Postgres): Promise<Withholding> {
  let armed = false;
  let held: { reached: PromiseWithResolvers<void>; released: PromiseWithResolvers<void> } | undefined;
  let slowMs = 0;
  let late: Late = "lookups";
  const names = new Set<string>();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    let changing = false;
    let withheld = false;
    let isForLookups = false;
    const behind = connect(postgres.port, "127.0.0.1");
    for (const [socket, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (bytes) => {
      const text = bytes.toString("latin1");
      isForLookups ||= text.includes("quicklink lookups"); // the name that a connection begins with
      for (const [, name = ""] of text.matchAll(prepared)) names.add(name);
      const changes = text.includes('insert into "changes"') || [...names].some((name) => text.includes(name));
      changing ||= (armed || held !== undefined) && changes;
      const commits = changing && commit.test(text);
      withheld ||= armed && commits;
      if (held !== undefined && commits) {
        held.reached.resolve();
        void held.released.promise.then(() => behind.write(bytes));
        [held, changing] = [undefined, false];
      } else behind.write(bytes);
    });
    behind.on("data", (bytes) => {
      if (withheld) return;
      if (slowMs === 0 || (late === "lookups" && !isForLookups)) client.write(bytes);
      else setTimeout(() => client.write(bytes), slowMs); // in order, for all are as late
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("there is no port to listen on");
  return {
    url: (direct) => direct.replace(`:${postgres.port}/`, `:${address.port}/`),
    withhold() {
      armed = true;
    },
    hold() {
      const one = { reached: Promise.withResolvers<void>(), released: Promise.withResolvers<void>() };
      held = one;
      return { reached: one.reached.promise, release: () => one.released.resolve() };
    },
    slow(ms, which = "lookups") {
      [slowMs, late] = [ms, which];
    },
    passOn() {
      armed = false;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
