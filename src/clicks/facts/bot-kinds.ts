import type { IsBot } from "../../redirect/bots.ts";
import { none } from "../click.ts";

/** What kind of program sent a request; none for people. Whether it is one is decided by `isBot` alone. */
export type BotKindOf = (userAgent: string) => string;

export const createBotKinds =
  (isBot: IsBot): BotKindOf =>
  (userAgent) =>
    isBot(userAgent) ? "other" : none;
