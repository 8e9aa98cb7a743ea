import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { proofs } from "./proofs.ts";

const controls = proofs.flatMap((proof) => proof.controls.map((control) => ({ proof, control })));

test("the mistakes of all controls can be planted in the source as it is", () => {
  const lost = controls.flatMap(({ proof, control }) =>
    control.edits
      .filter(({ file, from }) => sourceOf(file).split(from).length !== 2)
      .map(({ file, from }) => `${proof.name}, ${control.name}: src/${file} has not exactly one place like\n${from}`),
  );
  expect(lost).toEqual([]);
});

test("a control plays the scenarios whose claims it breaks", () => {
  const strange = controls
    .filter(({ control: { plays, breaks } }) => !breaks.every((id) => plays.some((name) => id.startsWith(name))))
    .map(({ proof, control }) => `${proof.name}, ${control.name}`);
  expect(strange).toEqual([]);
});

function sourceOf(file: string): string {
  try {
    return readFileSync(join(import.meta.dir, "../src", file), "utf8");
  } catch {
    return "";
  }
}
