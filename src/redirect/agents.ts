import { UAParser } from "ua-parser-js";
import { createMemo } from "../base/memo.ts";
import type { Device, System } from "../links/routing/rules.ts";

/**
 * What a User-Agent says its device and system are. It says so itself, and not always the truth: an iPad asks for the
 * pages of a Mac by default, and is one here. The last answers are kept, for the parser takes 7 µs.
 */
export interface Agent {
  readonly device: Device | undefined;
  readonly os: System | undefined;
}

export type AgentOf = (userAgent: string | null) => Agent;

const most = 2_000;
const lengthMost = 512;
const unknown: Agent = { device: undefined, os: undefined };

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
  // Programs name no system, and are neither a phone nor a desktop.
  if (name === undefined) return unknown;
  const type = parser.getDevice().type;
  return {
    device: type === undefined ? "desktop" : type === "mobile" || type === "tablet" ? type : "other",
    // Distributions go by many names; all of them say that they are Linux.
    os: systems[name] ?? (type === undefined && /linux|x11/i.test(userAgent) ? "linux" : "other"),
  };
}
