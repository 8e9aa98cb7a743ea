/**
 * Bundles the dashboard into `dist/web`: `bun web/bundle.ts [--if-changed] [--dev]`.
 *
 * Each file gets its hash as part of its name, so that browsers may keep it for good, and lies there compressed as well. The
 * manifest names the files of the first page and what they were made from. `npm start` runs this with `--if-changed`; if it
 * fails, the old bundle stays, and redirects and the API work without any.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { compile, optimize } from "@tailwindcss/node";
import { Scanner } from "@tailwindcss/oxide";

/** What the server reads: `src/dashboard/bundle.ts`. */
interface Manifest {
  /** Hash of the sources. */
  readonly source: string;
  readonly style: string;
  /** `main`, and `visitor` for people who are not signed in. */
  readonly entries: Readonly<Record<string, Entry>>;
}

interface Entry {
  readonly script: string;
  /** Loaded by the script at once. */
  readonly preload: readonly string[];
}

const folder = import.meta.dir;
const root = join(folder, "..");
const target = join(root, "dist/web");
/** Parts of the server that the dashboard uses too: what decides about visitors, and what draws QR codes. */
const shared = ["base", "links/routing", "qr", "redirect"].map((name) => join(root, "src", name));
/** Compressing smaller files is not worth it. */
const compressLeastBytes = 1_024;

const isQuick = Bun.argv.includes("--if-changed");
/** With the page of all components, `/app/design`. */
const isDevelopment = Bun.argv.includes("--dev");
const started = performance.now();
const source = fingerprint();
if (!isQuick || bundledFrom() !== source) {
  try {
    await bundle(source);
    console.log(`Bundled the dashboard in ${((performance.now() - started) / 1_000).toFixed(1)} s`);
  } catch (error) {
    console.error(error);
    console.error("The dashboard could not be bundled. Redirects and the API work without it.");
    if (!isQuick) process.exitCode = 1;
  }
}

function bundledFrom(): string | undefined {
  const manifest = join(target, "manifest.json");
  return existsSync(manifest) ? (JSON.parse(readFileSync(manifest, "utf8")) as Manifest).source : undefined;
}

/** Of everything that goes in: the sources, and which versions of the libraries are installed. */
function fingerprint(): string {
  const hash = createHash("sha256").update(readFileSync(join(root, "package-lock.json")));
  for (const file of [folder, ...shared].flatMap(sources))
    hash.update(`\n${relative(root, file)}\n`).update(readFileSync(file));
  return hash.update(isDevelopment ? "dev" : "").digest("hex");
}

function sources(below: string): string[] {
  const entries = readdirSync(below, { recursive: true, encoding: "utf8" }).toSorted();
  return entries.map((name) => join(below, name)).filter((file) => statSync(file).isFile());
}

async function bundle(source: string): Promise<void> {
  const [built, style] = await Promise.all([scripts(), styles()]);
  const draft = `${target}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(join(draft, "assets"), { recursive: true });
  try {
    const scripts: string[] = [];
    for (const output of built.outputs) {
      const name = output.path.split("/").at(-1) ?? "";
      if (output.kind === "entry-point") scripts.push(name);
      await write(join(draft, "assets", name), Buffer.from(await output.arrayBuffer()));
    }
    const entries = scripts.map((script) => {
      const text = readFileSync(join(draft, "assets", script), "utf8");
      const ahead = [...text.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)].map(([, name = ""]) => name);
      return [script.replace(/-\w+\.js$/, ""), { script, preload: [...new Set(ahead)] }] as const;
    });
    const styleName = `style-${createHash("sha256").update(style).digest("hex").slice(0, 8)}.css`;
    await write(join(draft, "assets", styleName), Buffer.from(style));
    const manifest: Manifest = { source, style: styleName, entries: Object.fromEntries(entries) };
    writeFileSync(join(draft, "manifest.json"), JSON.stringify(manifest));
    replace(draft);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

const triesMost = 5;

/** Test files that begin together all bundle after a change: another process may put its folder there in between. */
function replace(draft: string): void {
  for (let tries = 1; ; tries++) {
    rmSync(target, { recursive: true, force: true });
    try {
      renameSync(draft, target);
      return;
    } catch (error) {
      const isTaken = error instanceof Error && "code" in error && ["ENOTEMPTY", "EEXIST"].includes(String(error.code));
      if (!isTaken || tries === triesMost) throw error;
    }
  }
}

async function scripts() {
  return await Bun.build({
    entrypoints: [join(folder, "main.tsx"), join(folder, "visitor.tsx")],
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"', __QUICKLINK_DEV__: String(isDevelopment) },
    throw: true,
  });
}

async function styles(): Promise<string> {
  const file = join(folder, "styles.css");
  const compiler = await compile(readFileSync(file, "utf8"), { base: folder, onDependency() {} });
  const scanner = new Scanner({ sources: [{ base: folder, pattern: "**/*.{ts,tsx}", negated: false }] });
  return optimize(compiler.build(scanner.scan()), { minify: true }).code;
}

async function write(path: string, bytes: Buffer): Promise<void> {
  writeFileSync(path, bytes);
  if (bytes.length < compressLeastBytes) return;
  const quality = isQuick ? 5 : constants.BROTLI_MAX_QUALITY;
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }));
}
