import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";

/**
 * Hosts that no link may lead to: the operator's file with one host per line.
 *
 *   example.com      this host and its subdomains
 *   *.example.org    only its subdomains
 *   # a comment
 *
 * The file is checked when the list is used and the last check is a second old, so a change applies without a restart,
 * in the server, its background thread and every command. Invalid lines are skipped and reported. If the file is
 * missing or too large, the previous list stays in use.
 */
export interface Blocklist {
  isBlocked(host: string): boolean;
  /** Changes with the hosts on the list; `undefined` until a list was read. */
  fingerprint(): string | undefined;
}

export interface BlocklistSettings {
  readonly path: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

const lookMs = 1_000;
const sizeMostBytes = 16_777_216;
const toldMost = 10;

export function createBlocklist({ path, clock, log }: BlocklistSettings): Blocklist {
  let list: HostList | undefined;
  let stamp = "";
  let lookedAt = Number.NEGATIVE_INFINITY;

  function readIfChanged(): void {
    if (path === undefined || clock.elapsed() - lookedAt < lookMs) return;
    lookedAt = clock.elapsed();
    const now = stampOf(path);
    if (now === stamp) return;
    const known = list !== undefined;
    stamp = now;
    try {
      const { hosts, bad } = readBlocklist(path);
      list = hosts;
      for (const { line, text } of bad.slice(0, toldMost))
        log.warn({ path, line, text }, "invalid host on the blocklist ignored");
      if (known || bad.length > 0) log.info({ path, hosts: hosts.size, bad: bad.length }, "blocklist loaded");
    } catch (error) {
      log.warn(
        { path, error },
        known ? "cannot read the blocklist; keeping the previous one" : "cannot read the blocklist",
      );
    }
  }

  return {
    isBlocked(host) {
      readIfChanged();
      return list?.has(host) ?? false;
    },
    fingerprint() {
      readIfChanged();
      return list?.fingerprint;
    },
  };
}

/** Identifies the state of a file. */
function stampOf(path: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(path);
    return `${ino} ${size} ${mtimeMs}`;
  } catch (error) {
    return messageOf(error);
  }
}

export interface HostList {
  readonly size: number;
  readonly fingerprint: string;
  has(host: string): boolean;
}

export interface BadLine {
  readonly line: number;
  readonly text: string;
}

/** Throws if the file is missing or cannot be read. */
export function readBlocklist(path: string): { hosts: HostList; bad: BadLine[] } {
  const { size } = statSync(path);
  if (size > sizeMostBytes) throw new Error(`${path} has more than ${sizeMostBytes} bytes`);
  return parseBlocklist(readFileSync(path, "utf8"));
}

export function parseBlocklist(text: string): { hosts: HostList; bad: BadLine[] } {
  /** Hosts including their subdomains, and hosts of which only the subdomains are listed. */
  const whole = new Set<string>();
  const below = new Set<string>();
  const bad: BadLine[] = [];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const entry = (raw.split("#", 1)[0] ?? "").trim();
    if (entry === "") continue;
    const wild = entry.startsWith("*.");
    const host = hostOf(wild ? entry.slice(2) : entry);
    if (host === undefined) bad.push({ line: index + 1, text: entry.slice(0, 100) });
    else (wild ? below : whole).add(host);
  }
  const sorted = [...whole, ...[...below].map((host) => `*.${host}`)].sort();
  return {
    bad,
    hosts: {
      size: sorted.length,
      fingerprint: createHash("sha256").update(sorted.join("\n")).digest("base64url"),
      has(host) {
        const name = host.replace(/\.$/, "");
        if (whole.has(name)) return true;
        for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1)) {
          const parent = name.slice(dot + 1);
          if (whole.has(parent) || below.has(parent)) return true;
        }
        return false;
      },
    },
  };
}

/** Normalized as `URL` does, because links are compared in that form. */
function hostOf(text: string): string | undefined {
  if (!/^(?:[^\s/?#@:[\]\\*]+|\[[0-9a-f:.]+\])$/i.test(text) || !URL.canParse(`http://${text}/`)) return undefined;
  return new URL(`http://${text}/`).hostname.replace(/\.$/, "") || undefined;
}
