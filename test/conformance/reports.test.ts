import { beforeAll, expect, test } from "bun:test";
import { createReports, type NewReport, type Reports } from "../../src/abuse/reports.ts";
import { manualClock } from "../../src/base/clock.ts";
import { byCommand } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";

onEachDatabase(({ open }) => {
  const clock = manualClock(Date.UTC(2026, 10, 16));
  let reports: Reports;

  beforeAll(async () => {
    reports = createReports(await open(), clock);
  });

  const about = (code: string, domain = ""): NewReport => ({
    ...{ domain, code, reason: "spam", details: null, email: null, url: "https://example.com/" },
  });
  const openOnes = async (code: string) =>
    (await reports.list("open", 100)).filter((report) => report.code === code && report.domain === "");

  test("a link gets so many open reports, and another of the same code on another domain its own", async () => {
    for (let i = 0; i < 20; i++) expect(await reports.add(about("full"))).toBe("added");
    expect(await reports.add(about("full"))).toBe("enough");
    expect(await reports.add(about("full", "links.example.com"))).toBe("added");
    expect(await reports.close({ domain: "", code: "full" }, "dismissed", byCommand)).toBe(20);
    expect(await reports.add(about("full"))).toBe("added");
  });

  test("a report is closed once, and says when and by whom", async () => {
    await reports.add(about("once"));
    const [report] = await openOnes("once");
    const id = report?.id as NonNullable<typeof report>["id"];
    expect(await reports.dismiss(id, { kind: "command", name: "first" })).toBe(true);
    clock.advance(1_000);
    expect(await reports.dismiss(id, byCommand)).toBe(false);
    expect(await reports.close({ domain: "", code: "once" }, "suspended", byCommand)).toBe(0);
    expect(await reports.get(id)).toMatchObject({
      ...{ state: "dismissed", closedBy: "first", closedAt: clock.now() - 1_000 },
    });
  });
});
