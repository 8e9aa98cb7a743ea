import { UAParser } from "ua-parser-js";
import { createMemo } from "../base/memo.ts";
import type { Device, System } from "../links/routing/rules.ts";
import { browserName } from "./browsers.ts";

/**
 * Device, operating system and browser according to the User-Agent, which is not always true: an iPad asks for desktop pages by
 * default and counts as a Mac. The last answers are cached, because parsing takes 7 µs.
 */
export interface Agent {
  readonly device: Device | undefined;
  readonly os: System | undefined;
  /** As people call it: "Chrome", "Safari", "Instagram"; one of a list, or "other". */
  readonly browser: string | undefined;
}

export type AgentOf = (userAgent: string | null) => Agent;

const most = 2_000;
const lengthMost = 512;
const unknown: Agent = { device: undefined, os: undefined, browser: undefined };

export function createAgents(): AgentOf {
  const agents = createMemo({
    most,
    find: (userAgent) => parse(userAgent.slice(0, lengthMost)),
    keeps: (userAgent) => userAgent.length <= lengthMost,
  });
  return (userAgent) => (userAgent === null || userAgent === "" ? unknown : agents.get(userAgent));
}

const systems: Readonly<Record<string, System>> = {
  iOS: "ios",
  Android: "android",
  Windows: "windows",
  "Mac OS": "macos",
  "Chromium OS": "chromeos",
};

function parse(userAgent: string): Agent {
  const parser = new UAParser(userAgent);
  const name = parser.getOS().name;
  // Programs name no system, and are neither phone nor desktop.
  if (name === undefined) return unknown;
  const type = parser.getDevice().type;
  const browser = parser.getBrowser().name;
  return {
    device: type === undefined ? "desktop" : type === "mobile" || type === "tablet" ? type : "other",
    // Distributions have many names, but all of them mention Linux.
    os: systems[name] ?? (type === undefined && /linux|x11/i.test(userAgent) ? "linux" : "other"),
    browser: browser === undefined ? undefined : browserName(browser),
  };
}
