import { UAParser } from "ua-parser-js";
import type { Device, System } from "../links/routing/rules.ts";

/**
 * What a User-Agent says its device and system are. It says so itself, and not always the truth: an iPad asks for the
 * pages of a Mac by default, and is one here. Remembered in a bounded map as in `bots.ts`, for the parser takes 7 µs.
 */
export interface Agent {
  readonly device: Device | undefined;
  readonly os: System | undefined;
}

export type AgentOf = (userAgent: string | null) => Agent;

const remembered = 2_000;
const lengthMost = 512;
const unknown: Agent = { device: undefined, os: undefined };

export function createAgents(): AgentOf {
  const agents = new Map<string, Agent>();
  return (userAgent) => {
    if (userAgent === null || userAgent === "") return unknown;
    const known = agents.get(userAgent);
    if (known !== undefined) return known;
    const agent = parse(userAgent.slice(0, lengthMost));
    if (userAgent.length <= lengthMost) {
      if (agents.size >= remembered) {
        const oldest = agents.keys().next().value;
        if (oldest !== undefined) agents.delete(oldest);
      }
      agents.set(userAgent, agent);
    }
    return agent;
  };
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
