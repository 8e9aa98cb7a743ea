/** Visitors, and what each of them was promised. */
import { largestLease } from "../../src/limits/lease-size.ts";
import type { Draws } from "../../src/limits/leases.ts";
import type { Lane } from "../../src/limits/meters.ts";
import type { Verdict } from "../../src/limits/verdict.ts";
import { monthName } from "../../src/limits/window.ts";
import type { Instance } from "./instance.ts";
import type { Link, Scene } from "./scene.ts";

export interface Traffic {
  readonly granted: number;
  readonly denied: number;
  readonly unavailable: number;
  visit(instance: Instance, link: Link, draws: Draws): Verdict | Promise<Verdict>;
}

const leaseMs = 5_000;
const denyMs = 1_000;
/** From a store's decision to the instance that hears of it. */
const answerMs = 550;

export function createTraffic({ time, books, sqlClock, redisClock }: Scene): Traffic {
  const seen = { granted: 0, denied: 0, unavailable: 0 };

  function checkLease(instance: Instance, link: Link, lane: Lane): void {
    const now = lane.lender === "sql" ? sqlClock.now() : redisClock.now();
    const wasSet = lane.lender === "redis" && time.now - redisClock.jumpedAt <= leaseMs + answerMs;
    if (monthName(now) !== lane.month && !wasSet) {
      books.violate("month", `${link.key}: in ${lane.month}, and it is ${new Date(now).toISOString()}`);
    }
    const owes = lane.left + (lane.next?.left ?? 0) + lane.unrecorded;
    const most = 2 * largestLease(link.highest);
    if (owes > most && !link.wasFree) {
      books.violate("two_leases", `${link.key}: ${instance.name} owes ${owes}, bound ${most}`);
    }
  }

  function see(instance: Instance, link: Link, lane: Lane, max: number | null, verdict: Verdict): void {
    seen[verdict.kind]++;
    if (verdict.kind === "granted") {
      books.spent(instance.name, link.key, lane.draws, lane.month, max !== null);
      if (max !== null) checkLease(instance, link, lane);
    } else if (verdict.kind === "denied") {
      const ms = books.sinceDenial(instance.name, link.key, lane.draws);
      // A paused instance remembers as long, only later.
      if (ms > denyMs + answerMs && time.now - instance.pausedUntil > denyMs + answerMs) {
        books.violate("stale_denial", `${link.key}: ${instance.name} was denied ${ms} ms ago`);
      }
    }
  }

  return {
    get granted() {
      return seen.granted;
    },
    get denied() {
      return seen.denied;
    },
    get unavailable() {
      return seen.unavailable;
    },
    visit(instance, link, draws) {
      const { meters } = instance;
      if (meters === undefined) throw new Error(`${instance.name} has not started`);
      const { max } = link;
      const meter = meters.of(link.key);
      const verdict = meters.spend(meter, draws, max, draws === "hits" ? 0 : 1);
      const lane = meter[draws];
      if (lane === undefined) throw new Error(`${instance.name} spends from no lane`);
      // The lane's month is that of the unit until the next lease, which takes time to come.
      if (verdict instanceof Promise) void verdict.then((one) => see(instance, link, lane, max, one));
      else see(instance, link, lane, max, verdict);
      return verdict;
    },
  };
}

/** Bursts of visitors at one instance, until it crashes or the time is over. */
export function keepVisiting(scene: Scene, traffic: Traffic, instance: Instance, until: number): void {
  const { time, links } = scene;
  const dice = scene.dice.split();
  for (const link of links) {
    const pauseMs = dice.pick([60, 200, 600, 2_500]);
    const burst = Math.max(1, Math.ceil(largestLease(link.highest) * dice.pick([0.1, 0.4, 1.2])));
    const again = () => {
      if (time.now >= until) return;
      const draws = dice.happens(0.2) ? "exempt" : "hits";
      for (let i = dice.between(1, burst); i > 0; i--) void traffic.visit(instance, link, draws);
      time.after(dice.between(1, 2 * pauseMs), again, instance);
    };
    time.after(dice.between(10, 10 + pauseMs), again, instance);
  }
}
