/** What the promise rests on, each taken away in turn: the model must notice, soonest where it goes wrong most often. */
import type { Edit } from "../../ground/mutant.ts";
import type { Kind } from "./scenario.ts";

export interface Mistake {
  readonly seenIn: Kind;
  readonly edits: readonly Edit[];
}

export const mistakes: Readonly<Record<string, Mistake>> = {
  "Redis took what is older": {
    seenIn: "failing",
    edits: [
      {
        file: "redis/put.lua",
        from: 'if known > version or (known == version and kind == "fence") then',
        to: 'if known == version and kind == "fence" then',
      },
    ],
  },
  "a fill did not care what was announced meanwhile": {
    seenIn: "busy",
    edits: [
      { file: "cache/cache.ts", from: "if (answer.version >= flight.floor) {", to: "if (answer.version >= 0) {" },
    ],
  },
  "there were no fences": {
    seenIn: "busy",
    edits: [
      {
        file: "redis/cache.ts",
        from: 'await put(server.epoch, key, [version, "fence", "", fenceMs, 0]);',
        to: "",
      },
    ],
  },
  "there were no fences but those of the writer": {
    seenIn: "busy",
    edits: [{ file: "cache/correct-tier.ts", from: "await tier.fence(server, read.changes);", to: "" }],
  },
  "a follower moved past what is not settled": {
    seenIn: "overlapping",
    edits: [{ file: "cache/follow.ts", from: "position = page.finalUntil ?? position;", to: "position = page.next;" }],
  },
  "memory kept what was announced to be old": {
    seenIn: "busy",
    edits: [
      { file: "cache/cache.ts", from: "if ((remembered(key)?.version ?? version) < version) {", to: "if (false) {" },
    ],
  },
  "a fill was written however late it comes": {
    seenIn: "late",
    edits: [{ file: "redis/put.lua", from: "if notAfter > 0 then", to: "if false then" }],
  },
  "leave to write was asked for after SQL": {
    seenIn: "late",
    edits: [
      { file: "cache/tiered.ts", from: "const ticket = tier.ticket(key);\n", to: "" },
      {
        file: "cache/tiered.ts",
        from: "if (ticket !== undefined && answer",
        to: "const ticket = tier.ticket(key);\n    if (ticket !== undefined && answer",
      },
    ],
  },
  "the place of Redis moved on before the fences": {
    seenIn: "failing",
    edits: [
      {
        file: "cache/correct-tier.ts",
        from: "if (stand.position < position) await replay",
        to: "await tier.moveOn(server, stand.position, position);\n    if (stand.position < position) await replay",
      },
    ],
  },
  "an epoch began at the present end of the feed": {
    seenIn: "emptied",
    edits: [
      {
        file: "cache/correct-tier.ts",
        from: "tier.begin(server, feed.toText(before.position));",
        to: "tier.begin(server, position);",
      },
    ],
  },
};
