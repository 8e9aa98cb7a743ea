/**
 * What limits cost. Three benchmarks, each with its method at the top of its file: a hot link whose hits are leased
 * from Redis, single charges to a counter in Redis, and many links that are visited once each.
 */
import type { Bench } from "./bench.ts";
import { coldLinks } from "./cold-links.ts";
import { hotLink } from "./hot-link.ts";
import { takes } from "./takes.ts";

export const limits: Bench = {
  name: "limits",
  shows: "what limits cost: hot links, counters in Redis, and 100,000 links visited once",
  needs: ["postgresql", "redis-server"],
  async run() {
    const figures = [...(await hotLink()), ...(await takes())];
    await coldLinks();
    return figures;
  },
};
