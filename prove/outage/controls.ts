/** Mistakes that visitors notice only while something is unavailable. */
import type { Edit } from "../../test/ground/mutant.ts";
import type { Control } from "../proof.ts";

const tiered = "cache/tiered.ts";
const ask = "inTime: inTime.catch(";
const untrusted = 'missed("untrusted");';

/** Where Redis does not answer, and where it is not asked. */
const inBothWays = (failed: string, instead: string): Edit[] => [
  { file: tiered, from: `${ask}() => undefined)`, to: `${ask}${failed})` },
  { file: tiered, from: untrusted, to: `${untrusted} ${instead}` },
];

export const controls: readonly Control[] = [
  {
    name: "a query of its own for each link",
    edits: [
      {
        file: "cache/gathered-source.ts",
        from: "if (batch.length === keysPerQuery) break;",
        to: "if (batch.length === 1) break;",
      },
    ],
    plays: ["stampede"],
    breaks: ["stampede.queries"],
  },
  {
    name: "one lookup in three that is refused while Redis is unavailable",
    edits: inBothWays(
      "(error) => { if (Math.random() < 1 / 3) throw error; return undefined; }",
      'if (Math.random() < 1 / 3) throw new Error("refused");',
    ),
    plays: ["redis_refused"],
    breaks: ["redis_refused.refused"],
  },
  {
    name: "lookups that are a tenth of a second late while Redis is unavailable",
    edits: inBothWays("() => Bun.sleep(100).then(() => undefined)", "await Bun.sleep(100);"),
    plays: ["redis_refused"],
    breaks: ["redis_refused.waits"],
  },
  {
    name: "a breaker that never closes again",
    edits: [{ file: "base/breaker.ts", from: " && clock.elapsed() < triesAt", to: "" }],
    plays: ["redis_refused"],
    breaks: ["redis_refused.recovered_ms"],
  },
  {
    name: "links in memory that are not served when all stores are gone",
    edits: [
      {
        file: "cache/cache.ts",
        from: "if (known === undefined || clock.elapsed() - known.filledAt > staleMs) throw error;",
        to: "if (known === undefined || clock.elapsed() - known.filledAt >= 0) throw error;",
      },
    ],
    plays: ["all_refused"],
    breaks: ["all_refused.refused"],
  },
  {
    name: "a failure of SQL that is taken for a link that does not exist",
    edits: [
      {
        file: "redirect/serve.ts",
        from: "failing = true;\n      return undefined;",
        to: "failing = true;\n      return { version: 0, value: undefined };",
      },
    ],
    plays: ["sql_refused"],
    breaks: ["sql_refused.wrong"],
  },
];
