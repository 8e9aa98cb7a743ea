import { isbot } from "isbot";
import { createMemo } from "../base/memo.ts";

/**
 * Whether a User-Agent is a known bot. The list is one long regular expression (2.3 µs per check), and few distinct
 * agents make most visits, so the last verdicts are cached.
 */
export type IsBot = (userAgent: string | null) => boolean;

const most = 2_000;
const lengthMost = 512;

export function createBots(): IsBot {
  const verdicts = createMemo({
    most,
    find: (userAgent) => isbot(userAgent.slice(0, lengthMost)),
    keeps: (userAgent) => userAgent.length <= lengthMost,
  });
  // Every browser sends a User-Agent.
  return (userAgent) => userAgent === null || userAgent === "" || verdicts.get(userAgent);
}
