import { expect, test } from "bun:test";
import { statementMs } from "../../sql/sql.ts";
import { recognisedMs } from "../events/tenant-days.ts";
import { visitorsKeptMs } from "./purge-visitors.ts";

test("visitors of a day are forgotten only after the last transaction that may recognise them", () => {
  expect(visitorsKeptMs).toBeGreaterThan(recognisedMs + statementMs);
});
