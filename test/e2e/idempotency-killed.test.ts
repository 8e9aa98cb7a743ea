/**
 * A server that kills itself with -9 in the middle of a request with a key, by a line that is added to a copy of the program
 * at that very place. The next server is sent the same request, and it has happened once.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Edit, mutant } from "../ground/mutant.ts";
import { until } from "../ground/process.ts";
import { startServer } from "../ground/server.ts";
import { type Asked, type Names, posts, startNames } from "./posts.ts";
import { databases, query, type Reply, type Site, siteOf, startSite } from "./servers.ts";

const death = 'process.kill(process.pid, "SIGKILL")';

const places = {
  "between commit and reply": {
    file: "http/idempotency.ts",
    from: "return run.finish(await answerOf(response))",
    to: death,
  },
  "before its upload was admitted": {
    file: "files/files.ts",
    from: "const until = clock.now() + uploadMs;",
    to: `${death}; await new Promise(() => {}); const until = clock.now() + uploadMs;`,
  },
  "before its email was charged": {
    file: "email/outbox/outbox.ts",
    from: "const charged = await attempts.charge(email)",
    to: `${death}; await new Promise(() => {}); const charged = await attempts.charge(email)`,
  },
} as const satisfies Record<string, Edit>;

const killed = [
  ["/api/files", "between commit and reply"],
  ["/api/files", "before its upload was admitted"],
  ["/api/links/{id}/share", "between commit and reply"],
  ["/api/links/{id}/share", "before its email was charged"],
  ["/api/domains", "between commit and reply"],
] as const;

const sources = new Map<keyof typeof places, string>();
/** Each place is copied once. */
function killedAt(place: keyof typeof places): string {
  const source = sources.get(place) ?? mutant([places[place]]);
  sources.set(place, source);
  return source;
}

for (const database of databases) {
  describe(`on ${database}`, () => {
    let site: Site;
    let names: Names;

    beforeAll(async () => {
      names = await startNames();
      site = await startSite(database);
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      names.stop();
    });

    const start = async (source?: string): Promise<Site> => {
      const { port, key, dataDir } = site.server;
      const env = { QL_GUESSES_PER_MINUTE: "none", ...site.env };
      return siteOf(await startServer({ env, dataDir, port, key, ...(source && { source }) }), site.env);
    };

    const send = (asked: Asked, key: string): Promise<Reply> =>
      site.call("POST", asked.path, { body: asked.body, headers: { "idempotency-key": key, connection: "close" } });

    /** What such requests have made. */
    const made = async (): Promise<Set<string>> => {
      const statements = ["select id from files", "select id from emails", "select host as id from domains"];
      const rows = await Promise.all(statements.map((statement) => query(site.env, statement)));
      return new Set((rows.flat() as { id: string }[]).map(({ id }) => id));
    };

    // PostgreSQL has one route for each place. `npm run prove -- idempotency` kills it at random too.
    const isFirst = (at: number) => killed.findIndex(([, place]) => place === killed[at]?.[1]) === at;
    for (const [route, place] of killed.filter((_, at) => database === "SQLite" || isFirst(at))) {
      test(`POST ${route}, killed ${place}, has happened once when it is sent again`, async () => {
        const asked = await posts[route]?.(site, names);
        if (asked === undefined) throw new Error(`nobody knows how to send ${route}`);
        const key = crypto.randomUUID();
        const before = await made();
        expect(await site.server.stop()).toBe(0);
        site = await start(killedAt(place));
        await expect(send(asked, key)).rejects.toThrow();
        await site.server.kill();
        const left = [...(await made()).difference(before)];
        expect(left.length).toBe(1);
        site = await start();
        // A claim that a dead server left is good for some seconds where others may have it.
        const reply = await until("an answer", async () => {
          const one = await send(asked, key);
          return one.text.includes("idempotency_in_flight") ? undefined : one;
        });
        expect([201, 202]).toContain(reply.status);
        const { id, host } = reply.json<{ id?: string; host?: string }>();
        expect([...(await made()).difference(before)]).toEqual([String(id ?? host)]);
        if (place !== "before its upload was admitted") expect(left).toEqual([String(id ?? host)]);
        const again = await send(asked, key);
        expect([again.status, again.text]).toEqual([reply.status, reply.text]);
      });
    }
  });
}
