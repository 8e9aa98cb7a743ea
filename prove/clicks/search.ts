/** Searches everything that a run has written for a text. */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { sql as raw } from "kysely";
import { authorization } from "../../bench/subject.ts";
import { readTally } from "../../src/clicks/rollups/packed.ts";
import type { Server } from "../../test/ground/server.ts";
import { look } from "../database.ts";
import type { Site } from "./site.ts";

/** A place and what is in it. */
export interface Place {
  readonly name: "database files" | "tables" | "logs" | "redis" | "exports";
  readonly content: readonly Buffer[];
}

const exportMs = 60_000;

export async function placesOf(site: Site, server: Server): Promise<Place[]> {
  return [
    { name: "database files", content: filesIn(await site.files()) },
    { name: "tables", content: await tables(site) },
    { name: "logs", content: [Buffer.from(site.logs())] },
    ...(site.redis === undefined ? [] : [{ name: "redis" as const, content: await redisFile(site.redis) }]),
    { name: "exports", content: await exports(server) },
  ];
}

export const bytesOf = ({ content }: Place): number => content.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** In any case: names of hosts are stored in lower case. */
export const holds = ({ content }: Place, text: string): boolean =>
  content.some((buffer) => buffer.includes(text) || buffer.includes(Buffer.from(text, "utf16le")));

function filesIn(folder: string): Buffer[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path, { throwIfNoEntry: false })?.isFile() ? [readFileSync(path)] : [];
  });
}

/** Every row of every table as text: PostgreSQL compresses long values in its files. */
async function tables({ env }: Site): Promise<Buffer[]> {
  return await look(env, async ({ db, dialect }) => {
    const names = await db.introspection.getTables();
    const texts: Buffer[] = [];
    for (const { name, isView } of names) {
      if (isView) continue;
      const rows =
        dialect === "postgres"
          ? await raw<unknown>`select t::text from ${raw.table(name)} as t`.execute(db)
          : await raw<unknown>`select * from ${raw.table(name)}`.execute(db);
      texts.push(Buffer.from(JSON.stringify(rows.rows)));
    }
    // Their names are compressed.
    for (const row of await db.selectFrom("click_rollups").selectAll().execute()) {
      const { people, rest } = readTally(row, row.start);
      const names = [people, rest].flatMap((values) => [...values.values()].flatMap((ofName) => [...ofName.keys()]));
      texts.push(Buffer.from(names.join("\n")));
    }
    return texts;
  });
}

async function redisFile(redis: NonNullable<Site["redis"]>): Promise<Buffer[]> {
  await redis.command("CONFIG", "SET", "rdbcompression", "no");
  await redis.command("SAVE");
  // It works in the folder that it saves to.
  return filesIn(readlinkSync(`/proc/${redis.pid}/cwd`));
}

async function exports(server: Server): Promise<Buffer[]> {
  const paths = ["clicks?format=csv", "clicks?format=jsonl", "stats?format=csv", "stats?format=csv&breakdown=referrer"];
  const texts = paths.map(async (path) => {
    const response = await fetch(`${server.url}/api/${path}`, {
      headers: authorization(server),
      signal: AbortSignal.timeout(exportMs),
    });
    if (response.status !== 200) throw new Error(`/api/${path} was answered with ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  });
  return await Promise.all(texts);
}
