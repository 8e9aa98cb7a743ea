/**
 * A proxy to PostgreSQL that can withhold an answer: the commit of a change is passed on, and nothing comes back. For
 * the waiting client the commit has not happened; everyone else can see that it has.
 */
import { connect, createServer, type Socket } from "node:net";
import type { Postgres } from "../../test/ground/postgres.ts";

export interface Withholding {
  /** The same database, by this way. */
  url(direct: string): string;
  /** From the next change on. */
  withhold(): void;
  /** New connections are as they should be again. */
  passOn(): void;
  close(): void;
}

const commit = /\bcommit\b/i;
/** A prepared statement shows its text once per connection; its name, which follows from the text, is in every run. */
const prepared = /(\w+)\0insert into "changes"/g;

export async function withholdingCommits(postgres: Postgres): Promise<Withholding> {
  let armed = false;
  const names = new Set<string>();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    let changing = false;
    let withheld = false;
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
      for (const [, name = ""] of text.matchAll(prepared)) names.add(name);
      const changes = text.includes('insert into "changes"') || [...names].some((name) => text.includes(name));
      changing ||= armed && changes;
      withheld ||= changing && commit.test(text);
      behind.write(bytes);
    });
    behind.on("data", (bytes) => {
      if (!withheld) client.write(bytes);
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
    passOn() {
      armed = false;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
