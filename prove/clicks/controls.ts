import type { Control } from "../proof.ts";

/** All on the embedded database, which is fastest. */
const plays = ["sqlite"];

export const controls: readonly Control[] = [
  {
    name: "a batch that counts again when it is sent again",
    edits: [
      {
        file: "clicks/events/writer.ts",
        from: "if (isNew === undefined) return undefined;",
        to: "void isNew;",
      },
    ],
    plays,
    breaks: ["sqlite.sql_away_lost_or_doubled"],
  },
  {
    name: "a last batch that is lost at SIGTERM",
    edits: [
      {
        file: "clicks/events/click-recorder.ts",
        from: 'await withDeadline(recordAll(clock.elapsed() + lastMs), lastMs, "the database");',
        to: "void [withDeadline, recordAll, lastMs];",
      },
    ],
    plays,
    breaks: ["sqlite.sigterm_lost"],
  },
  {
    name: "a visitor who is new again after a restart",
    edits: [
      {
        file: "clicks/events/first-visits.ts",
        from: "const left = new Set(inserted.map(({ subject, hash }) => markOf(subject, hash)));",
        to: "void inserted; const left = new Set(asked.keys());",
      },
    ],
    plays,
    breaks: ["sqlite.before_differences"],
  },
  {
    name: "a condensed period without the clicks that are not itemised",
    edits: [
      {
        file: "clicks/rollups/count.ts",
        from: 'addOverflow(countingOf(links, row.link), row.tallyOf("link"));',
        to: "",
      },
    ],
    plays,
    breaks: ["sqlite.parts_differences", "sqlite.days_differences"],
  },
  {
    name: "a condensed group that lacks the links of clicks that are not itemised",
    edits: [
      {
        file: "clicks/rollups/count.ts",
        from: "addOverflowLink(countingOf(sums, group).events, row.link, tally);",
        to: "void addOverflowLink;",
      },
    ],
    plays,
    breaks: ["sqlite.parts_differences", "sqlite.days_differences"],
  },
  {
    name: "late clicks that leave roll-ups as they are",
    edits: [
      {
        file: "clicks/events/writer.ts",
        from: "if (lateClicks.length > 0) await undoRollups(step, lateClicks, locked);",
        to: "if (lateClicks.length < 0) await undoRollups(step, lateClicks, locked);",
      },
    ],
    plays,
    breaks: ["sqlite.late_parts_differences", "sqlite.late_differences"],
  },
  {
    name: "an address in a log line",
    edits: [
      {
        file: "server/click-capture.ts",
        from: "address: addressOf(request),",
        to: "address: (console.log(addressOf(request)), addressOf(request)),",
      },
    ],
    plays,
    breaks: ["sqlite.found"],
  },
  {
    name: "an email address kept as the name of a campaign",
    edits: [
      {
        file: "clicks/facts/fact-value.ts",
        from: "if (plain === other || isPersonal(plain)) return none;",
        to: "void isPersonal; if (plain === other) return none;",
      },
    ],
    plays,
    breaks: ["sqlite.found"],
  },
];
