import type { System } from "../../links/routing/rules.ts";
import type { Agent } from "../../redirect/user-agents.ts";

const systems: Readonly<Record<System, string | undefined>> = {
  ios: "iOS",
  android: "Android",
  windows: "Windows",
  macos: "macOS",
  linux: "Linux",
  chromeos: "ChromeOS",
  other: undefined,
};

const browserMost = 40;

/** What a person recognises in a list of sessions: "Firefox on Linux". Taken from a header, so it proves nothing. */
export function deviceLabel({ browser, os }: Agent): string {
  const system = os === undefined ? undefined : systems[os];
  const name = browser?.slice(0, browserMost);
  if (name === undefined) return system === undefined ? "Unknown device" : `Unknown browser on ${system}`;
  return system === undefined ? name : `${name} on ${system}`;
}
