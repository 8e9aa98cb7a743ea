/** `npm run docs`: writes the documents that are made from the code. */
import { mkdirSync, writeFileSync } from "node:fs";
import { describeSettings } from "../src/config.ts";
import { describeDashboard } from "./dashboard.ts";
import { describeErrors } from "./errors-doc.ts";

mkdirSync("docs", { recursive: true });
for (const [path, text] of [
  ["docs/config.md", describeSettings()],
  ["docs/errors.md", describeErrors()],
  ["ops/grafana/dashboard.json", describeDashboard()],
] as const) {
  writeFileSync(path, text);
  console.log(path);
}
