/** `npm run docs`: writes the generated documents and the client. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describeSettings } from "../src/config/describe.ts";
import type { Document } from "../src/http/openapi.ts";
import { startServer } from "../test/ground/server.ts";
import { clientPath, dashboardRoutesPath, describeClient, describeDashboardRoutes } from "./client.ts";
import { describeDashboard } from "./dashboard.ts";
import { describeErrors } from "./errors-doc.ts";

const document = await apiDocument();
for (const [path, text] of [
  ["docs/config.md", describeSettings()],
  ["docs/errors.md", describeErrors()],
  ["ops/grafana/dashboard.json", describeDashboard()],
  [clientPath, await describeClient(document)],
  [dashboardRoutesPath, await describeDashboardRoutes(document)],
] as const) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  console.log(path);
}
process.exit();

/** From a running server. */
async function apiDocument(): Promise<Document> {
  const server = await startServer();
  try {
    return (await (await fetch(`${server.url}/openapi.json`)).json()) as Document;
  } finally {
    await server.stop();
  }
}
