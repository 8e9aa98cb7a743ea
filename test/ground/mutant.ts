/** A copy of the program with a mistake, to check that a test notices. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keep } from "./keeper.ts";
import { sourceFolder } from "./server.ts";

export interface Edit {
  /** From `src/`. */
  readonly file: string;
  /** Must occur exactly once. */
  readonly from: string;
  readonly to: string;
}

const root = join(import.meta.dir, "../..");

/**
 * Returns the folder of the copy of `src/`; inside the project, so that it finds the same packages. In a control, it is a
 * copy of the source with the control's mistake.
 */
export function mutant(edits: readonly Edit[]): string {
  mkdirSync(join(root, ".tmp"), { recursive: true });
  const folder = mkdtempSync(join(root, ".tmp/mutant-"));
  keep({ folder });
  cpSync(join(root, "package.json"), join(root, ".tmp/package.json")); // which main.ts reads beside src/
  cpSync(sourceFolder, folder, { recursive: true, filter: (path) => !path.endsWith(".test.ts") });
  for (const { file, from, to } of edits) {
    const path = join(folder, file);
    const parts = readFileSync(path, "utf8").split(from);
    if (parts.length !== 2) throw new Error(`src/${file} has ${parts.length - 1} places like this:\n${from}`);
    writeFileSync(path, parts.join(to));
  }
  return folder;
}
