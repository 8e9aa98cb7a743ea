/**
 * Load for comparisons of servers: a client that never sleeps, on a core of its own.
 *
 * A server that answers a client which sleeps has to wake it, and the kernel counts that as the server's time: on a virtual
 * machine several microseconds. wrk sleeps when it has no answer to read. That is seldom with nginx, which answers faster than wrk
 * can ask, and after nearly every answer of a server that takes twice as long: so it made slow servers look slower than they are. The same
 * client, sleeping and awake, in µs of CPU per request: nginx 17.7 and 15.5, ours 41.7 and 28.6.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProcess } from "../test/ground/process.ts";
import { tempFolder } from "../test/ground/temp.ts";
import type { Loaded } from "./load.ts";

export interface AwakeLoad {
  /** Of 127.0.0.1. */
  readonly port: number;
  /** Requested in turn. */
  readonly paths: readonly string[];
  readonly headers: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  /** Of the client. */
  readonly core: number;
}

/** Fails if an answer is not a redirect. */
export async function loadAwake({ port, paths, headers, connections, seconds, core }: AwakeLoad): Promise<Loaded> {
  const file = join(tempFolder("requests"), "requests.json");
  const requestOf = (path: string) =>
    [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...headers, "", ""].join("\r\n");
  writeFileSync(file, JSON.stringify(paths.map(requestOf)));
  const client = [process.execPath, "--no-env-file", join(import.meta.dir, "awake-client.ts")];
  const given = [port, connections, seconds * 1_000, file].map(String);
  const { code, stdout, stderr } = await runProcess(["taskset", "--cpu-list", String(core), ...client, ...given], {
    timeoutMs: (seconds + 30) * 1_000,
  });
  if (code !== 0) throw new Error(`the client ended with ${code}\n${stdout}${stderr}`);
  const { answers, others, ended, ...time } = JSON.parse(stdout) as Seen;
  if (others + ended > 0) throw new Error(`${others} answers were no redirects, ${ended} connections were closed`);
  return { requests: answers, ...time };
}

interface Seen extends Pick<Loaded, "seconds"> {
  readonly answers: number;
  readonly others: number;
  readonly ended: number;
}
