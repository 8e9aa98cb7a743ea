/**
 * How much of the machine was used by others while we measured: all CPU time that the kernel has accounted, and time
 * stolen from this machine by its host, without that of this process and all it has started.
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { cpuMicrosOfAll } from "./cpu.ts";

/** Above this share of all cores, figures say more about the neighbours than about us. */
export const othersMost = 0.15;

const ticksPerSecond = 100;

/** Begins now; each call returns the share of all cores since then, from 0 to 1. */
export function watchOthers(): () => number {
  const before = { busy: busyTicks(), own: ownTicks(), at: performance.now() };
  return () => {
    const cores = availableParallelism() * ((performance.now() - before.at) / 1_000) * ticksPerSecond;
    const others = busyTicks() - before.busy - (ownTicks() - before.own);
    return Math.min(1, Math.max(0, others / Math.max(1, cores)));
  };
}

/** The sentence, or nothing if the machine is quiet enough. */
export const tooBusy = (share: number): string | undefined =>
  share <= othersMost
    ? undefined
    : `others used ${Math.round(100 * share)}% of the cores, and more than ${Math.round(100 * othersMost)}% is too much to judge`;

function busyTicks(): number {
  const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n");
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.split(/\s+/).slice(1).map(Number);
  return user + nice + system + irq + softirq + steal;
}

/** Of this process and those it has started, also of those that have ended. */
const ownTicks = (): number => (cpuMicrosOfAll(process.pid) * ticksPerSecond) / 1e6;
