import type { Control } from "../proof.ts";

export const controls: readonly Control[] = [
  {
    name: "no limit on new values of a link",
    edits: [
      {
        file: "clicks/events/values.ts",
        from: "if (places <= 0 || before >= newValuesOfLinkMost) continue;",
        to: "if (places <= 0) continue;",
      },
      // Itemised clicks alone bring in values: with their cap, nothing would be left to see.
      {
        file: "clicks/events/caps.ts",
        from: "export const eventsOfQuarterMost = 500;",
        to: "export const eventsOfQuarterMost = 5_000;",
      },
    ],
    plays: ["sqlite"],
    breaks: ["sqlite.values"],
  },
  {
    name: "no cap on single clicks",
    edits: [{ file: "clicks/events/caps.ts", from: "n < to && taken < room;", to: "n < to;" }],
    plays: ["sqlite"],
    breaks: ["sqlite.events"],
  },
  {
    name: "overflow rows that keep every value",
    edits: [
      {
        file: "clicks/rollups/tally.ts",
        from: "export const valuesMost = 300;",
        to: "export const valuesMost = 300_000;",
      },
    ],
    plays: ["sqlite"],
    breaks: ["sqlite.overflow_bytes"],
  },
  {
    name: "new values of other links that are refused with those of the attacked one",
    edits: [
      {
        file: "clicks/events/values.ts",
        from: "for (const { link, name } of asked) {",
        to: "for (const { name } of asked) { const link = 0;",
      },
    ],
    plays: ["server"],
    breaks: ["server.others_wrong"],
  },
];
