/** What keeps the house in order: who may know whom, and what may be done where. DESIGN.md section 2 and 3, as tests. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import manifest from "../package.json";
import lock from "../package-lock.json";

const root = join(import.meta.dir, "..");

interface Source {
  /** From the root: `src/links/api.ts`. */
  readonly path: string;
  readonly text: string;
  /** The text without comments, which may speak of what the code must not do. */
  readonly code: string;
}

function sources(...patterns: string[]): Source[] {
  const paths = patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(root)]);
  return paths.toSorted().map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return { path, text, code: text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1") };
  });
}

const program = sources("src/**/*.ts").filter(({ path }) => !/\.(?:test|d)\.ts$/.test(path));
const folders = ["src", "test", "scripts", "bench", "prove", "mutate"];
const everything = sources(...folders.map((folder) => `${folder}/**/*.ts`));

/** Which of these hold it, as "path: what". */
function holding(files: readonly Source[], pattern: RegExp): string[] {
  return files.flatMap(({ path, code }) => [...code.matchAll(pattern)].map(([what]) => `${path}: ${what}`));
}

interface Import {
  readonly from: string;
  readonly to: string;
  /** `import type`: gone before the program runs. */
  readonly typeOnly: boolean;
}

const importPattern = /(?:\b(?:import|export)\s+(type\s)?[^;"']*?from\s+|\bimport\s*\(?\s*)"([^"]+)"/g;

const imports: Import[] = program.flatMap(({ path, code }) =>
  [...code.matchAll(importPattern)].flatMap(([, type, target = ""]) =>
    target.startsWith(".")
      ? [{ from: path, to: normalize(join(dirname(path), target)), typeOnly: type !== undefined }]
      : [],
  ),
);

const engine = ["base", "codes", "limits", "cache"];
const subjects = [
  "links",
  "redirect",
  "clicks",
  "tenants",
  "domains",
  "email",
  "files",
  "qr",
  "link-health",
  "abuse",
  "people",
  "history",
  "dashboard",
  "annotations",
  "branding",
  "share-pages",
];
const routes = [
  "http/route.ts",
  "http/pagination.ts",
  "http/mount.ts",
  "http/body.ts",
  "http/problem.ts",
  "http/session-cookie.ts",
];
const subjectMay = [...engine, ...subjects, "safe-fetch", "sql", ...routes];
const adapterMay = ["base", "limits", "cache"];

const exportPattern = /^export (?:abstract |async )*(?:function\*?|const|let|class|interface|type) (\w+)/gm;
/** A step is named after its file, and only the list of steps imports it. */
const isMigration = /^src\/sql\/migrations\//;

/** For each room (a folder or a file in src/), the rooms that its files may import besides each other. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  codes: ["base"],
  limits: ["base"],
  cache: ["base"],
  ...Object.fromEntries(subjects.map((subject) => [subject, subjectMay])),
  clicks: [...subjectMay, "import-export/csv.ts"],
  history: [...subjectMay, "import-export/csv.ts"],
  links: [...subjectMay, "import-export/csv.ts"],
  "import-export": subjectMay,
  sql: adapterMay,
  redis: adapterMay,
  "in-memory": adapterMay,
  workers: ["base"],
  "safe-fetch": ["base", "limits"],
  idempotency: ["base", "sql"],
  http: ["base", "limits", "idempotency", ...subjects],
  config: ["base", "redis/address.ts", "email/address.ts"],
  "core.ts": [...engine, ...subjects, "sql", "safe-fetch", "config"],
  doctor: [
    "base",
    "codes",
    "abuse/blocklist.ts",
    "clicks/facts/places.ts",
    "files",
    "people/factors/oidc-client.ts",
    "redirect/cache-format.ts",
    "sql",
    "redis",
    "config",
    "core.ts",
  ],
  server: [
    ...[...engine, ...subjects, "sql", "redis", "in-memory", "workers", "idempotency", "http", "config", "core.ts"],
    ...["doctor/doctor.ts", "import-export"],
  ],
  cli: [
    ...[...engine, ...subjects, ...routes, "sql", "redis", "import-export", "workers", "doctor"],
    ...["config", "core.ts", "server"],
  ],
  "main.ts": ["base", "cli"],
};

const roomOf = (path: string): string => path.split("/")[1] ?? "";

describe("who may import whom", () => {
  test("every room of src/ has a row in the table", () => {
    const rooms = new Set(program.map(({ path }) => roomOf(path)));
    expect([...rooms].filter((room) => !(room in mayImport))).toEqual([]);
  });

  test("no file imports from a room that is not in its row", () => {
    const wrong = imports.filter(({ from, to }) => {
      if (to === "package.json" || roomOf(from) === roomOf(to)) return false;
      const allowed = mayImport[roomOf(from)] ?? [];
      return !allowed.includes(roomOf(to)) && !allowed.includes(to.replace(/^src\//, ""));
    });
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  test("every imported file exists, so that the table covers all imports", () => {
    expect(imports.length).toBeGreaterThan(program.length);
    expect(imports.filter(({ to }) => !existsSync(join(root, to)))).toEqual([]);
  });

  test("there are no cycles", () => {
    // Types are left out: they are gone before the program runs, and a step of the schema has to know its words.
    const next = Map.groupBy(
      imports.filter(({ typeOnly }) => !typeOnly),
      ({ from }) => from,
    );
    const done = new Set<string>();
    const cycles: string[] = [];
    function visit(path: string, way: readonly string[]): void {
      if (way.includes(path)) cycles.push([...way.slice(way.indexOf(path)), path].join(" → "));
      if (done.has(path) || way.includes(path)) return;
      for (const { to } of next.get(path) ?? []) visit(to, [...way, path]);
      done.add(path);
    }
    for (const { path } of program) visit(path, []);
    expect(cycles).toEqual([]);
  });

  test("the program imports nothing from its tests", () => {
    expect(imports.filter(({ to }) => !to.startsWith("src/") && to !== "package.json")).toEqual([]);
    expect(imports.filter(({ to }) => to.endsWith(".test.ts"))).toEqual([]);
  });
});

describe("what may be done where", () => {
  const outside = (...places: string[]) =>
    program.filter(({ path }) => !places.some((place) => path === place || path.startsWith(`${place}/`)));

  test("Bun's own things are used in sql/, base/ and at the socket only, so that the runtime stays replaceable", () => {
    const bun = /\bBun\.\w+|"bun:\w+"|from "bun"/g;
    expect(holding(outside("src/sql", "src/http/server.ts", "src/http/socket", "src/base"), bun)).toEqual([]);
  });

  test("the environment is read in config/ only", () => {
    expect(holding(outside("src/config/config.ts"), /\bprocess\.env\b|\bBun\.env\b|\bimport\.meta\.env\b/g)).toEqual(
      [],
    );
  });

  test("the machine's clock is read in base/clock.ts only", () => {
    const reading =
      /\bDate\.now\b|\bnew Date(?:\(\s*\)|(?!\w|\())|(?<!new |\w)Date\(|\bperformance\.\w+|\bhrtime\b|\bBun\.nanoseconds\b|\bprocess\.uptime\b/g;
    expect(holding(outside("src/base/clock.ts"), reading)).toEqual([]);
  });

  test("what repeats work is base/repeat.ts; an interval lives no longer than a request", () => {
    const requests = ["src/http/server.ts", "src/http/idempotency.ts", "src/files/upload"];
    expect(holding(outside(...requests), /\bsetInterval\b/g)).toEqual([]);
  });

  test("the URL of a link is built in one place, which knows about custom domains", () => {
    const address =
      /\bbaseUrl\)?\}\/\$\{|\bbaseUrl\s*\+\s*["`]\/|\bnew URL\([^()]*,[^()]*\bbaseUrl\b|\.protocol\}\/\//g;
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is source text for the check to find.
    const planted = ["`${baseUrl}/${code}`", 'baseUrl + "/" + code', "new URL(code, config.baseUrl)"];
    expect(planted.filter((code) => holding([{ path: "", text: code, code }], address).length === 0)).toEqual([]);
    expect(holding(outside("src/links/link.ts"), address)).toEqual([]);
  });

  test("versions are raised and changes recorded by one function, in one order of locks", () => {
    const writing =
      /\b(?:insertInto|updateTable|mergeInto)\(\s*["`](?:changes|versions|link_versions)\b|\b(?:insert\s+into|update)\s+"?(?:changes|versions|link_versions)\b/gi;
    const planted = ['.insertInto("changes")', '.updateTable("link_versions")', "insert into changes (domain)"];
    expect(planted.filter((code) => holding([{ path: "", text: code, code }], writing).length === 0)).toEqual([]);
    // Migrations run without concurrent writers.
    expect(holding(outside("src/sql/versions.ts", "src/sql/migrations"), writing)).toEqual([]);
  });

  test("only cli/print.ts prints, and it escapes all text from outside", () => {
    const printing = /\bconsole\.\w+|\b(?:process|terminal\(\))\.std(?:out|err)\.write\(\s*[^"\s]/g;
    expect(holding(outside("src/cli/print.ts"), printing)).toEqual([]);
  });
});

describe("what must not occur", () => {
  test("no test is skipped, postponed or run alone", () => {
    const set = /\b(?:test|it|describe)\.(?:skip|only|todo|failing|if|skipIf|todoIf)\b|\bx(?:test|it|describe)\(/g;
    expect(holding(everything, set)).toEqual([]);
  });

  test("no test waits for a page by a function, which the content policy refuses after its first look", () => {
    expect(holding(everything, /\.waitForFunction\(/g)).toEqual([]);
  });

  test("nothing is left for later", () => {
    const words = new RegExp(
      `\\b(?:${["TO", "FIX", "XX"].map((half, i) => half + ["DO", "ME", "X"][i]).join("|")})\\b`,
    );
    expect(everything.filter(({ text }) => words.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("no two files of src/ export the same name, so that a search finds one thing", () => {
    const exporters = new Map<string, Set<string>>();
    for (const { path, code } of program.filter((source) => !isMigration.test(source.path))) {
      for (const [, name = ""] of code.matchAll(exportPattern)) {
        exporters.set(name, (exporters.get(name) ?? new Set()).add(path));
      }
    }
    const twice = [...exporters].filter(([, paths]) => paths.size > 1);
    expect(twice.map(([name, paths]) => `${name}: ${[...paths].join(", ")}`)).toEqual([]);
  });

  test("no folder or file has a name that says nothing", () => {
    const empty = /(?:^|[/-])(?:utils?|helpers?|managers?|services?|common|misc|shared)(?=[/.-])/;
    expect(everything.map(({ path }) => path).filter((path) => empty.test(path))).toEqual([]);
  });
});

describe("the dependencies", () => {
  const packages = Object.entries(lock.packages as Record<string, LockedPackage>).filter(([path]) => path !== "");

  interface LockedPackage {
    readonly version?: string;
    readonly license?: string;
    readonly dev?: boolean;
    readonly resolved?: string;
    readonly hasInstallScript?: boolean;
  }

  test("are pinned to exact versions, those that are installed", () => {
    const pins = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(pins.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    const locked = Object.fromEntries(packages);
    expect(pins.filter(([name, version]) => locked[`node_modules/${name}`]?.version !== version)).toEqual([]);
  });

  test("are not tied to the registry of the person who locked them", () => {
    expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  });

  test("have permissive licences; MPL for tools of development and of the bundle only", () => {
    const permissive = new Set([
      ...["MIT", "MIT-0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "ISC", "Apache-2.0"],
      ...["BlueOak-1.0.0", "Unlicense", "CC0-1.0", "PDDL-1.0"],
    ]);
    const isFine = (licence: string, dev: boolean): boolean =>
      licence
        .replace(/[()]/g, "")
        .split(" OR ")
        .some((choice) => choice.split(" AND ").every((one) => permissive.has(one) || (dev && one === "MPL-2.0")));
    // Tailwind's minifier runs when the dashboard is bundled. No part of it reaches a server or a browser.
    const isTool = (path: string) => /^node_modules\/lightningcss(?:-[\w-]+)?$/.test(path);
    const wrong = packages.flatMap(([path, { license, dev }]) => {
      const installed = join(root, path, "package.json");
      const own = existsSync(installed) ? JSON.parse(readFileSync(installed, "utf8")).license : undefined;
      const licences = [license, own].filter((one) => one !== undefined);
      return licences.length > 0 &&
        licences.every((one) => typeof one === "string" && isFine(one, (dev ?? false) || isTool(path)))
        ? []
        : [`${path}: ${licences.join(", ") || "none"}`];
    });
    expect(wrong).toEqual([]);
  });

  test("run no install scripts except approved ones", () => {
    const running = packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
    const approved = Object.keys(manifest.allowScripts).map((name) => `node_modules/${name}`);
    expect(running.filter((path) => !approved.includes(path))).toEqual([]);
  });
});
