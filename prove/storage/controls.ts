import type { Control } from "../proof.ts";

export const controls: readonly Control[] = [
  {
    name: "reserved bytes that do not count",
    edits: [
      {
        file: "redis/charge.lua",
        from: "        limit.count = limit.count + amount\n        limit.counting",
        to: "        limit.counting",
      },
    ],
    plays: ["race"],
    breaks: ["race.late"],
  },
  {
    name: "no last check in SQL",
    edits: [
      {
        file: "files/store.ts",
        from: "if (max !== null && bytes + row.size_bytes > max) return",
        to: "if (max !== null && bytes < 0) return",
      },
    ],
    plays: ["lowered"],
    breaks: ["lowered.over_quota", "lowered.stored"],
  },
  {
    name: "reserved bytes that are never freed",
    edits: [
      {
        file: "files/files.ts",
        from: 'if (!file.settled && (await quota.release(file)) === "unavailable") return false;',
        to: "",
      },
    ],
    plays: ["nothing_wrong"],
    breaks: ["nothing_wrong.left"],
  },
  {
    name: "bytes of a deleted file freed twice",
    edits: [
      {
        file: "files/store.ts",
        from: "bytes: Math.max(0, bytes - row.size_bytes)",
        to: "bytes: Math.max(0, bytes - 2 * row.size_bytes)",
      },
    ],
    plays: ["nothing_wrong"],
    breaks: ["nothing_wrong.drift", "nothing_wrong.wrong_bytes"],
  },
  {
    name: "abandoned uploads that are never swept",
    edits: [
      { file: "files/store.ts", from: 'is("upload_until", "<", endedBefore),', to: 'is("upload_until", "<", 0),' },
    ],
    plays: ["nothing_wrong"],
    breaks: ["nothing_wrong.unfinished"],
  },
];
