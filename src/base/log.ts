import pino from "pino";
import { printable } from "./printable.ts";

export type Logger = pino.Logger;

/**
 * One JSON object per line; a readable line on a terminal. Callers log IDs, counts and codes. The paths below are a
 * second safeguard in case a whole request gets logged: keys, cookies and addresses never reach the output.
 */
const secretPaths = [
  "authorization",
  "cookie",
  "password",
  "key",
  "address",
  "ip",
  "*.authorization",
  "*.cookie",
  "*.password",
  "*.key",
  "*.address",
  "*.ip",
];

export function createLog(
  level: string,
  output: { write(line: string): void },
  readable: boolean,
  now: () => number,
): Logger {
  return pino(
    {
      level,
      base: null,
      redact: { paths: secretPaths, censor: "[hidden]" },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      serializers: { error: pino.stdSerializers.err },
    },
    readable ? { write: (line) => output.write(forPeople(line)) } : output,
  );
}

function forPeople(line: string): string {
  const { level, time, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const clock = String(time).slice(11, 19);
  const facts = Object.entries(rest).map(([name, value]) => `${name}=${show(value)}`);
  return `${printable([clock, String(level).padEnd(5), msg, ...facts].join("  "))}\n`;
}

function show(value: unknown): string {
  if (typeof value === "object" && value !== null && "message" in value) return JSON.stringify(value.message);
  return typeof value === "string" ? value : JSON.stringify(value);
}
