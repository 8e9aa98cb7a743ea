/** Runs wrk, bounded in connections and time, optionally on its own core. */
import { find } from "../test/ground/machine.ts";
import { runProcess } from "../test/ground/process.ts";

export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly core?: number;
  readonly headers?: readonly string[];
  /** A Lua file. */
  readonly script?: string;
  /** How long an answer may take; wrk's own limit is 2 s. */
  readonly timeoutSeconds?: number;
}

export interface Loaded {
  readonly requests: number;
  readonly seconds: number;
}

/** The headers of a browser, because the size of a request is part of its cost. */
export const browserHeaders: readonly string[] = [
  "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
  "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
  "Accept-Language: en-US,en;q=0.9",
  "Accept-Encoding: gzip, deflate, br, zstd",
];

/** The same and the others that Chrome sends when a visitor follows a link: 14, with `Host`, which wrk adds. */
export const chromeHeaders: readonly string[] = [
  "Connection: keep-alive",
  'sec-ch-ua: "Chromium";v="141", "Google Chrome";v="141", "Not?A_Brand";v="8"',
  "sec-ch-ua-mobile: ?0",
  'sec-ch-ua-platform: "Linux"',
  "Upgrade-Insecure-Requests: 1",
  "Sec-Fetch-Site: cross-site",
  "Sec-Fetch-Mode: navigate",
  "Sec-Fetch-User: ?1",
  "Sec-Fetch-Dest: document",
  ...browserHeaders,
];

/** Fails if any answer is an error: refusals are cheaper and would improve the figure. */
export async function load(given: Load): Promise<Loaded> {
  const { url, connections, seconds, core, headers = [], script, timeoutSeconds } = given;
  const tool = find("wrk");
  if (tool === undefined) throw new Error("wrk is not on this machine");
  const { code, stdout, stderr } = await runProcess(
    [
      ...(core === undefined ? [] : ["taskset", "--cpu-list", String(core)]),
      ...[tool.path, "--threads", "1", "--connections", String(connections), "--duration", `${seconds}s`],
      ...headers.flatMap((header) => ["--header", header]),
      ...(script === undefined ? [] : ["--script", script]),
      ...(timeoutSeconds === undefined ? [] : ["--timeout", `${timeoutSeconds}s`]),
      url,
    ],
    { timeoutMs: (seconds + 30) * 1_000 },
  );
  const done = /(\d+) requests in ([\d.]+)(m?s)/.exec(stdout);
  if (code !== 0 || done === null) throw new Error(`wrk ended with ${code}\n${stdout}${stderr}`);
  if (/Non-2xx or 3xx|Socket errors/.test(stdout)) throw new Error(`some requests failed\n${stdout}`);
  const [, requests, time, unit] = done;
  return { requests: Number(requests), seconds: Number(time) / (unit === "ms" ? 1_000 : 1) };
}
