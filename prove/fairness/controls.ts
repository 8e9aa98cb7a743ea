import type { Control } from "../proof.ts";

export const controls: readonly Control[] = [
  {
    name: "a holder that may take every free place",
    edits: [{ file: "base/fair-queue.ts", from: "if (line.running >= free) continue;", to: "" }],
    plays: ["uploads_sqlite"],
    breaks: ["uploads_sqlite.succeeded"],
  },
  {
    name: "uploads shared by file instead of by tenant",
    edits: [{ file: "files/upload/upload.ts", from: "uploads.run(tenant, work,", to: "uploads.run(upload.key, work," }],
    plays: ["uploads_sqlite"],
    breaks: ["uploads_sqlite.succeeded"],
  },
  {
    name: "one line for all, without turns",
    edits: [
      {
        file: "base/shares.ts",
        from: "function enter(holder: string, {",
        to: 'function enter(_: string, { holder = "all",',
      },
    ],
    plays: ["passwords_sqlite"],
    breaks: ["passwords_sqlite.succeeded"],
  },
  {
    name: "a full queue that refuses the newcomer",
    edits: [
      {
        file: "base/fair-queue.ts",
        from: "if (line.waiting.length > longest.waiting.length) [loser, longest] = [other, line];",
        to: "if (line.waiting.length < 0) [loser, longest] = [other, line];",
      },
    ],
    plays: ["passwords_sqlite"],
    breaks: ["passwords_sqlite.succeeded"],
  },
  {
    name: "checks of destinations shared by link instead of by tenant",
    edits: [{ file: "link-health/check-round.ts", from: "{ tenantId }: DueCheck,", to: "{ id: tenantId }: DueCheck," }],
    plays: ["targets_sqlite"],
    breaks: ["targets_sqlite.succeeded"],
  },
];
