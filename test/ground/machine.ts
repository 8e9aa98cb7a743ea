/** What the machine must have, who needs it, how to find it, and how to install it. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

export type Purpose = "test" | "bench" | "prove";
export type Tool = { name: ToolName; folder: string; path: string };
export type Missing = { name: ToolName; purpose: Purpose; install: string };

type Need = {
  purpose: Purpose;
  packages: readonly string[];
  /** All of them must be in one folder, so that they are of one version. The first one is the tool's path. */
  binaries: readonly string[];
  /** Where to look before PATH. */
  folders?: () => string[];
  /** Extracted from its package into our own folder, because installing it would start a service. */
  unpackTo?: string;
};

const unpacked = join(import.meta.dir, "../../.tmp/packages");
const debianPostgres = "/usr/lib/postgresql";

const needs = {
  postgresql: {
    purpose: "test",
    packages: ["postgresql"],
    binaries: ["postgres", "initdb", "pg_dump", "pg_restore", "psql"],
    folders: debianPostgresFolders,
  },
  "redis-server": { purpose: "test", packages: ["redis-server"], binaries: ["redis-server", "redis-cli"] },
  curl: { purpose: "test", packages: ["curl"], binaries: ["curl"] },
  chromium: { purpose: "test", packages: ["chromium"], binaries: ["chromium"] },
  nginx: { purpose: "bench", packages: ["nginx"], binaries: ["nginx"] },
  wrk: { purpose: "bench", packages: ["wrk"], binaries: ["wrk"] },
  faketime: { purpose: "prove", packages: ["faketime"], binaries: ["faketime"] },
  slowhttptest: { purpose: "prove", packages: ["slowhttptest"], binaries: ["slowhttptest"] },
  promtool: {
    purpose: "test",
    packages: ["prometheus"],
    binaries: ["promtool"],
    folders: () => [join(unpacked, "prometheus/usr/bin")],
    unpackTo: join(unpacked, "prometheus"),
  },
} satisfies Record<string, Need>;

export type ToolName = keyof typeof needs;

export const testTools: readonly ToolName[] = ["postgresql", "redis-server", "curl", "chromium", "promtool"];
export const benchTools: readonly ToolName[] = ["nginx", "wrk"];

export function find(name: ToolName): Tool | undefined {
  const { folders, binaries }: Need = needs[name];
  // Daemons are in sbin, which is not in every PATH.
  const path = [...(Bun.env.PATH ?? "").split(":").filter(Boolean), "/usr/local/sbin", "/usr/sbin", "/sbin"];
  for (const folder of [...(folders?.() ?? []), ...path]) {
    const [first, ...others] = binaries.map((binary) => Bun.which(binary, { PATH: folder }));
    if (typeof first === "string" && others.every((other) => other !== null)) return { name, folder, path: first };
  }
  return undefined;
}

/** Installs what is missing if permitted, and reports what is still missing. */
export async function ensure(names: readonly ToolName[]): Promise<Missing[]> {
  const absent = names.filter((name) => find(name) === undefined);
  if (absent.length > 0 && mayInstall()) await install(absent);
  return absent
    .filter((name) => find(name) === undefined)
    .map((name) => ({ name, purpose: needs[name].purpose, install: commandFor(name) }));
}

/** Debian keeps PostgreSQL's binaries outside PATH, by version: the newest first. */
function debianPostgresFolders(): string[] {
  try {
    return readdirSync(debianPostgres)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(debianPostgres, version, "bin"));
  } catch {
    return [];
  }
}

function mayInstall(): boolean {
  return process.getuid?.() === 0 && Bun.which("apt-get") !== null;
}

/** What a person would type. */
function commandFor(name: ToolName): string {
  const { packages, unpackTo }: Need = needs[name];
  if (unpackTo !== undefined) return unpackCommand(packages, unpackTo);
  return `${process.getuid?.() === 0 ? "" : "sudo "}apt-get install -y --no-install-recommends ${packages.join(" ")}`;
}

function unpackCommand(packages: readonly string[], folder: string): string {
  const unpack = `for p in *.deb; do dpkg -x "$p" . && rm "$p"; done`;
  return `mkdir -p '${folder}' && cd '${folder}' && apt-get download ${packages.join(" ")} && ${unpack}`;
}

let updated = false;

async function install(names: readonly ToolName[]): Promise<void> {
  console.log(`Installing ${names.join(", ")} with apt-get, which can take some minutes.`);
  // Offline, the existing package lists may still do; if not, the next command says so.
  if (!updated) await shell("apt-get update");
  updated = true;
  const all = names.map((name): Need => needs[name]);
  const packages = all.filter((need) => need.unpackTo === undefined).flatMap((need) => need.packages);
  if (packages.length > 0) report(await shell(installScript, packages));
  for (const { packages, unpackTo } of all) {
    if (unpackTo !== undefined) report(await shell(unpackCommand(packages, unpackTo)));
  }
}

// No service is started and no PostgreSQL cluster created; the machine is configured so only meanwhile. A shell does
// this because its trap also runs when we are killed; a forgotten policy-rc.d would keep every later service down.
const installScript = `
  files= folder=
  put() {
    [ -e "$1" ] && return
    [ -d "$(dirname "$1")" ] || { folder=$(dirname "$1"); mkdir -p "$folder"; }
    files="$files $1"
    printf "$2" >"$1" && chmod 755 "$1"
  }
  trap 'rm -f $files; [ -z "$folder" ] || rmdir --parents --ignore-fail-on-non-empty "$folder"' EXIT
  trap 'exit 130' INT TERM HUP
  put /usr/sbin/policy-rc.d '#!/bin/sh\\nexit 101\\n'
  put /etc/postgresql-common/createcluster.d/no-cluster.conf 'create_main_cluster = false\\n'
  apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
`;

type Outcome = { code: number; output: string };

// Never killed by us: a package that is half installed is worse than a process that outlives us.
async function shell(script: string, args: readonly string[] = []): Promise<Outcome> {
  const child = Bun.spawn(["sh", "-c", `exec 2>&1; ${script}`, "sh", ...args], {
    env: { ...Bun.env, DEBIAN_FRONTEND: "noninteractive" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const [output, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  return { code, output };
}

function report({ code, output }: Outcome): void {
  if (code !== 0) console.error(`apt-get ended with ${code}:\n${output.trimEnd().split("\n").slice(-10).join("\n")}`);
}
