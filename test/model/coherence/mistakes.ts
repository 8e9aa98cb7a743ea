/** What the promise rests on, each taken away in turn: the model must notice. */
import type { Edit } from "../../ground/mutant.ts";

export const mistakes: Readonly<Record<string, readonly Edit[]>> = {
  "Redis took what is older": [
    {
      file: "redis/put.lua",
      from: 'if known > version or (known == version and kind == "fence") then',
      to: 'if known == version and kind == "fence" then',
    },
  ],
  "a fill did not care what was announced meanwhile": [
    { file: "cache/cache.ts", from: "if (answer.version >= flight.floor) {", to: "if (answer.version >= 0) {" },
  ],
  "there were no fences": [
    {
      file: "redis/cache.ts",
      from: 'await Promise.all(forms.map((one) => put(one, server.epoch, key, [version, "fence", "", fenceMs, 0])));',
      to: "",
    },
  ],
  "there were no fences but those of the writer": [
    { file: "cache/correct.ts", from: "await tier.fence(server, read.changes);", to: "" },
  ],
  "a follower moved past what is not settled": [
    { file: "cache/follow.ts", from: "position = page.settled ?? position;", to: "position = page.next;" },
  ],
  "memory kept what was announced to be old": [
    { file: "cache/cache.ts", from: "      found.delete(key);\n      missing.delete(key);\n    },", to: "    }," },
  ],
};
