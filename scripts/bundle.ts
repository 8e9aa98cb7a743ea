/**
 * Bundles the server into `dist/server`, which `npm start` and the container run: `bun scripts/bundle.ts [--if-changed]`.
 *
 * A thousand small files take longer to load than one large one, and 13 MB more memory (docs/adr/0057-start-and-idle-memory.md).
 * Programs keep the names of their sources. Other files have their hash in the name and stay for a week after they were
 * last part of a bundle, because a server that is running loads some of them later.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { programs } from "./programs.ts";

const root = join(import.meta.dir, "..");
const target = join(root, "dist/server");
const note = join(target, "source.txt");
const keptMs = 7 * 86_400_000;

const started = performance.now();
const source = fingerprint();
const isStarting = Bun.argv.includes("--if-changed");
const isCurrent = existsSync(note) && readFileSync(note, "utf8") === source;
if (!isStarting || !isCurrent) {
  try {
    await bundle();
    console.log(`Bundled the server in ${((performance.now() - started) / 1_000).toFixed(1)} s`);
  } catch (error) {
    console.error(error);
    // Not an older bundle instead: it would be another version than the one that was installed. If it cannot be removed
    // either, this fails.
    rmSync(join(target, "main.ts"), { force: true });
    console.error("The server could not be bundled into dist/server.");
    if (isStarting) console.error("It starts from its sources instead.");
    else process.exitCode = 1;
  }
}

/** Of everything that goes in: the sources, this script, and which versions of the libraries are installed. */
function fingerprint(): string {
  const hash = createHash("sha256");
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).toSorted();
  const others = ["package.json", "package-lock.json", "scripts/bundle.ts", "scripts/programs.ts"];
  for (const name of [...sources.filter((one) => !one.endsWith(".test.ts")).map((one) => `src/${one}`), ...others]) {
    const file = join(root, name);
    if (statSync(file).isFile()) hash.update(`\n${name}\n`).update(readFileSync(file));
  }
  return hash.digest("hex");
}

async function bundle(): Promise<void> {
  const draft = `${target}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  try {
    const { outputs } = await Bun.build({
      entrypoints: programs.map((path) => join(root, path)),
      outdir: draft,
      target: "bun",
      format: "esm",
      // What is loaded when it is first used stays apart.
      splitting: true,
      naming: { entry: "[name].ts", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    });
    mkdirSync(target, { recursive: true });
    // Programs last: what they load is there before them.
    for (const { path } of outputs.toSorted(
      (a, b) => Number(a.kind === "entry-point") - Number(b.kind === "entry-point"),
    )) {
      renameSync(path, join(target, path.slice(draft.length + 1)));
    }
    writeFileSync(note, source);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  for (const name of readdirSync(target)) {
    const file = join(target, name);
    if (Date.now() - statSync(file).mtimeMs > keptMs) rmSync(file);
  }
}
