/** Generated documents match the code; `npm run docs` regenerates them. Links and names in all documents exist. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describeDashboard } from "../scripts/dashboard.ts";
import { describeErrors, fieldCodes } from "../scripts/errors-doc.ts";
import { problems } from "../src/base/errors.ts";
import { loadConfig } from "../src/config/config.ts";
import { describeSettings } from "../src/config/describe.ts";

const root = join(import.meta.dir, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

describe("docs/config.md", () => {
  test("is what the settings are", () => {
    expect(read("docs/config.md")).toBe(describeSettings());
  });

  test("has a row for every setting", () => {
    const rows = [...read("docs/config.md").matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(rows).toEqual(loadConfig({}, "/nonexistent").shown.map(({ name }) => name));
  });
});

describe("docs/errors.md", () => {
  test("is what the errors are", () => {
    expect(read("docs/errors.md")).toBe(describeErrors());
  });

  test("has a row for every code of a problem, with its status", () => {
    const rows = [...read("docs/errors.md").matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, code, status]) => [
      code,
      status,
    ]);
    expect(rows).toEqual(Object.entries(problems).map(([code, { status }]) => [code, String(status)]));
  });

  test("has every code of a bad field that the source can give, and no other", () => {
    const sources = [
      "src/{domains,email,files,http,links,people,qr,redirect,tenants}/**/*.ts",
      "src/clicks/*.ts",
      "src/clicks/reports/*.ts",
    ]
      .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(root)])
      .filter((path) => !path.endsWith(".test.ts"));
    const thrown = sources.flatMap((path) => {
      const text = read(path);
      const named = [/\binvalid\(\s*[^,()]+,\s*"(\w+)"/g, /\bbad\(\s*"(\w+)"/g, /\bcode: "([a-z_]+)"/g].flatMap(
        (pattern) => [...text.matchAll(pattern)],
      );
      // Those that zod's own findings become: the strings that `codeOf` returns.
      const mapped = text.slice(text.indexOf("function codeOf(")).matchAll(/(?:return|\?|:|\?\?) "(\w+)"/g);
      return [...named, ...(text.includes("function codeOf(") ? mapped : [])].map(([, code]) => code ?? "");
    });
    // `custom` is zod's name for a finding of ours, which has its own code.
    const found = [...new Set(thrown)].filter((code) => !(code in problems) && code !== "custom").toSorted();
    expect(found).toEqual(Object.keys(fieldCodes).toSorted());
  });
});

describe("ops/grafana/dashboard.json", () => {
  test("is what its table says", () => {
    expect(read("ops/grafana/dashboard.json")).toBe(describeDashboard());
  });
});

describe("documents that people write", () => {
  // One pattern at a time: Bun's Glob finds nothing for a brace with a `/` in it.
  const pages = ["*.md", "docs/**/*.md", "ops/*.md", "bench/*.md", "clients/*/*.md"].flatMap((pattern) => [
    ...new Bun.Glob(pattern).scanSync(root),
  ]);
  const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```/gm, "");

  /** What a heading is called in an address, as GitHub has it. */
  const anchors = (path: string) =>
    [...withoutCode(read(path)).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replace(/\s/g, "-"),
    );

  test("are found", () => {
    const some = ["README.md", "docs/links.md", "docs/adr/0001-record-decisions.md", "clients/typescript/README.md"];
    expect(some.filter((page) => !pages.includes(page))).toEqual([]);
  });

  test("README.md has at most 150 lines, and the two commands of the continuous integration", () => {
    const readme = read("README.md");
    expect(readme.split("\n").length).toBeLessThanOrEqual(150);
    for (const command of ["npm install && npm start", "npm install && npm test"])
      expect(readme).toContain(`\n\`\`\`\n${command}\n\`\`\`\n`);
    expect(read(".ci/run")).toContain("\nnpm install && npm test\n");
    expect(read(".github/workflows/ci.yml")).toContain(" .ci/run\n");
  });

  test("CHANGELOG.md has one sentence a line", () => {
    const lines = read("CHANGELOG.md")
      .split("\n### ")
      .slice(1)
      .flatMap((part) => part.split("\n").slice(1).filter(Boolean));
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.filter((line) => !/^- .+\.$/.test(line) || /[a-z`)]\. [A-Z]/.test(line))).toEqual([]);
  });

  test("docs/README.md leads to every page of docs/, and docs/cli.md names every command", () => {
    const index = read("docs/README.md");
    const all = pages.filter((page) => /^docs\/[^/]+\.md$/.test(page) && page !== "docs/README.md");
    expect(all.filter((page) => !index.includes(`(${page.slice("docs/".length)}`))).toEqual([]);
    const commands = [...read("src/main.ts").matchAll(/import\("\.\/cli\/(\w+)\.ts"\)/g)].map(([, name = ""]) => name);
    const cells = [...read("docs/cli.md").matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)].map(([, cell = ""]) => cell);
    const named = cells.flatMap((cell) => [...cell.matchAll(/\w+/g)].map(([name]) => name));
    expect(named.toSorted()).toEqual(commands.toSorted());
  });

  test("lead only to what is there", () => {
    const broken = pages.flatMap((page) =>
      [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].flatMap(
        ([, link, picture]) => {
          const [path = "", anchor] = (link ?? picture ?? "").split("#");
          if (/^[a-z]+:/.test(path)) return [];
          const target = path === "" ? page : normalize(join(dirname(page), path));
          const found =
            existsSync(join(root, target)) && (anchor === undefined || anchors(target).some((one) => one === anchor));
          return found ? [] : [`${page}: ${link ?? picture}`];
        },
      ),
    );
    expect(broken).toEqual([]);
  });

  test("name only files that are there", () => {
    const missing = pages.flatMap((page) =>
      [...read(page).matchAll(/`((?:src|test|scripts|bench|prove|ops)\/[\w./-]+\.\w+)`/g)].flatMap(([, path = ""]) =>
        // NNNN is a placeholder for a file's number; a client names files of its own folder.
        [join(root, path), join(root, dirname(page), path)].some(existsSync) || path.includes("/NNNN-")
          ? []
          : [`${page}: ${path}`],
      ),
    );
    expect(missing).toEqual([]);
  });

  test("quote only names of tests that the named file has", () => {
    const quotes = pages.flatMap((page) =>
      [
        ...read(page)
          .replace(/\s+/g, " ")
          .matchAll(/`([\w./-]+\.test\.ts)`,? "([^"]+)"/g),
      ].map(([, path = "", quote = ""]) => ({ page, path, quote })),
    );
    expect(quotes.length).toBeGreaterThan(10);
    const wrong = quotes.filter(({ path, quote }) => path.includes("/") && !read(path).includes(quote));
    expect(wrong).toEqual([]);
  });

  test("name only proofs and benchmarks that can be run", () => {
    const missing = pages.flatMap((page) =>
      // Not an option, not a placeholder in capitals, and not the word for all of them.
      [...read(page).matchAll(/npm run (prove|bench)\s--\s(?!--|all\b|NAME\b)([\w-]+)/g)].flatMap(([, kind, name]) =>
        existsSync(join(root, `${kind}/${name}.ts`)) ? [] : [`${page}: ${kind} ${name}`],
      ),
    );
    expect(missing).toEqual([]);
  });

  test("the index of decisions has every page, in order, by its title", () => {
    const index = [...read("docs/adr/0001-record-decisions.md").matchAll(/^\| \[\d+\]\((.+)\) \| (.+) \|$/gm)];
    const rest = readdirSync(join(root, "docs/adr")).toSorted().slice(1);
    const titles = rest.map((file) => [file, /^# \d{4}\. (.+)$/m.exec(read(`docs/adr/${file}`))?.[1]]);
    expect(index.map(([, file, title]) => [file, title])).toEqual(titles);
  });

  test("every room of src/ is in the table of ARCHITECTURE.md, and no other", () => {
    const table = read("ARCHITECTURE.md").split("## The rooms")[1]?.split("\n## ")[0] ?? "";
    const named = [...table.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, room = ""]) => room.replace(/\/$/, "")),
    );
    const rooms = readdirSync(join(root, "src")).filter((name) => !name.endsWith(".test.ts"));
    expect(named.toSorted()).toEqual(rooms.toSorted());
  });
});
