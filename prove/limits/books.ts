/**
 * What really happened, independent of what the code under test believes: which leases the stores granted, what
 * visitors were granted, what was recorded. Every promise is checked against it, at once where possible and otherwise
 * at the end of the run.
 */
import { largestLease } from "../../src/limits/lease-size.ts";
import type { Ask, Draws, FirstAnswer, FirstVisit, LeaseAnswer, Lender } from "../../src/limits/leases.ts";
import type { Drained } from "../../src/limits/meters.ts";
import type { Executed, Tell } from "./network.ts";

export type WorldKind = "sql" | "redis" | "degrade" | "loss" | "file";

export const checks = {
  over_grant: "more was granted than the limit",
  overspent: "more was spent in the end than the highest limit, or by more than two leases for each instance and crash",
  overshoot: "the limit was overshot by more than two leases for each instance and crash",
  first: "a first visit is counted that nobody was granted",
  counted: "SQL has not counted what was written down",
  forgotten: "an instance that was stopped in order did not write down all it granted",
  reserved: "SQL holds as lent what is not",
  stranded: "units are lost to everybody that should not be",
  seeded: "a missing key was made with less than SQL had counted",
  month: "a unit was spent in a month that is not its lease's",
  two_leases: "unspent and unrecorded units are more than two leases",
  false_denial: "a limit was denied though units remain that nobody holds",
  stale_denial: "a denial was remembered for longer than a second",
  expiry: "a key of Redis does not expire",
  stuck: "a limit cannot be asked though all stores answer",
} as const;
export type Check = keyof typeof checks;

export interface Violation {
  readonly check: Check;
  readonly text: string;
}

/** A figure and what it may be at most; the worst is the one that is nearest to its bound, or furthest beyond. */
export interface Bounded {
  readonly figure: number;
  readonly bound: number;
}

export const worse = (a: Bounded | undefined, b: Bounded): Bounded =>
  a === undefined || b.figure * a.bound > a.figure * b.bound ? b : a;

/** One instance's part in one limit of one month. */
interface Part {
  /** Granted to visitors, and of those from leases. */
  spent: number;
  leased: number;
  /** Given out by the store, and come back to it or written down. */
  readonly lent: Record<Lender, number>;
  readonly back: Record<Lender, number>;
  written: number;
  /** First visits that are counted, whose visitors have not heard of it. */
  unheard: number;
}

/** A limit in one month: what all instances did to it. */
interface Account {
  readonly key: string;
  readonly draws: Draws;
  readonly month: string;
  readonly parts: Map<string, Part>;
  /** Leases that their store has not heard the end of. */
  readonly open: Record<Lender, Map<string, number>>;
  /** Ids that Redis has heard the end of, and those it has denied or found no key for. */
  readonly ended: Set<string>;
  readonly notGranted: Set<string>;
  /** Granted but never received, see below. */
  readonly ghosts: Map<string, number>;
  /** Counted before the run began. */
  before: number;
  /** Spent and held when the limit was last lowered below it: what is beyond the limit since then is not overshot. */
  floor: number;
  overshoot: number;
}

export interface BooksSettings {
  readonly tell: Tell;
  readonly kind: WorldKind;
  readonly instances: number;
  /** True time. */
  readonly now: () => number;
  /** Whether the clock of Redis was set ahead at any time. */
  readonly redisLeapt: () => boolean;
  /** Unspent units of valid leases in the hands of running instances. */
  readonly held: (key: string, draws: Draws, month: string) => number;
  /** The link's limit at this moment: an ask that comes late is of an earlier one. */
  readonly current: (key: string) => number;
  /** The highest limit that the link had during the run. */
  readonly highest: (key: string) => number;
}

export interface Row {
  readonly code: string;
  readonly draws: Draws;
  readonly month: string;
  readonly counted: number;
  readonly reserved: number;
}

const owner = (lease: string): string => lease.slice(0, lease.indexOf("."));

export function createBooks({ tell, kind, instances, now, redisLeapt, held, current, highest }: BooksSettings) {
  const violations: Violation[] = [];
  const accounts = new Map<string, Account>();
  const crashed = new Set<string>();
  const missed = new Map<string, number>();
  const deniedAt = new Map<string, number>();
  let overGrant = 0;
  let accountsClosed = 0;
  let firsts = 0;
  const leases: Record<Lender, number> = { sql: 0, redis: 0 };
  let stranded: Bounded | undefined;
  const bothLend = kind === "degrade" || kind === "loss";

  function violate(check: Check, text: string): void {
    violations.push({ check, text });
    tell(() => `VIOLATION ${check}: ${text}`);
  }

  function account(key: string, draws: Draws, month: string): Account {
    const name = `${draws} ${month} ${key}`;
    const found = accounts.get(name) ?? {
      ...{ key, draws, month, before: 0, floor: 0, overshoot: 0 },
      parts: new Map(),
      ended: new Set(),
      notGranted: new Set(),
      ghosts: new Map(),
      open: { sql: new Map(), redis: new Map() },
    };
    accounts.set(name, found);
    return found;
  }

  function part({ parts }: Account, instance: string): Part {
    const found = parts.get(instance) ?? {
      ...{ spent: 0, leased: 0, written: 0, unheard: 0 },
      lent: { sql: 0, redis: 0 },
      back: { sql: 0, redis: 0 },
    };
    parts.set(instance, found);
    return found;
  }

  const sumOf = ({ parts }: Account, of: (part: Part) => number): number =>
    [...parts.values()].reduce((sum, one) => sum + of(one), 0);
  const nameOf = ({ draws, key, month }: Account): string => `${draws} of ${key} in ${month}`;
  const leaseOf = ({ key }: Account): number => largestLease(highest(key));
  const slack = (of: Account): number => 2 * leaseOf(of) * (instances + crashed.size);

  /** Spent, or in the hands of those who may spend it. What was counted while there was no limit took nothing from it. */
  const claimed = (of: Account): number =>
    of.before + sumOf(of, ({ leased, unheard }) => leased + unheard) + held(of.key, of.draws, of.month);

  function grant(lender: Lender, of: Account, lease: string, size: number, max: number): void {
    if (of.open[lender].has(lease)) return;
    of.open[lender].set(lease, size);
    leases[lender]++;
    part(of, owner(lease)).lent[lender] += size;
    claim(of, lease, size, max);
  }

  function claim(of: Account, who: string, units: number, max: number): void {
    const claim = claimed(of) + units;
    of.overshoot = Math.max(of.overshoot, claim - Math.max(max, of.floor, current(of.key)));
    if (bothLend || claim <= max) return;
    overGrant = Math.max(overGrant, claim - max);
    violate("over_grant", `${nameOf(of)}: ${who} got ${units} of ${max}, ${claim - max} too many`);
  }

  /**
   * A copy of an ask that arrives when its lease has ended grants units that no instance receives. The script remembers
   * ended leases for longer than a copy can be in flight, but by a clock that may jump ahead; and it does not remember
   * denials, nor asks that found no key or came before their month. No limit is exceeded by it, so it is ignored.
   */
  function isGhost(of: Account, id: string, again: boolean): boolean {
    if (of.open.redis.has(id) || kind === "loss") return false;
    if (of.ended.has(id)) {
      if (!redisLeapt()) violate("stranded", `${nameOf(of)}: ${id} was given again after its end`);
      return true;
    }
    return again && of.notGranted.has(id);
  }

  /** Spent, or out on a lease whose end its store has not heard of: the most that a store may take for used. */
  function gone(of: Account): number {
    const open = [of.open.sql, of.open.redis, of.ghosts]
      .flatMap((some) => [...some.values()])
      .reduce((sum, size) => sum + size, 0);
    return of.before + sumOf(of, ({ spent, unheard }) => spent + unheard) + open + (bothLend ? slack(of) : 0);
  }

  function deny(instance: string, of: Account, gone: number, max: number): void {
    deniedAt.set(`${instance} ${of.draws} ${of.key}`, now());
    if (gone < max) violate("false_denial", `${nameOf(of)}: denied with ${gone} of ${max} gone`);
  }

  function closePart(of: Account, instance: string, one: Part, redisCounts: boolean): void {
    if (!crashed.has(instance) && one.unheard > 0) {
      violate("first", `${nameOf(of)}: ${one.unheard} by ${instance}, which did not crash`);
    }
    // What a lost Redis has forgotten cannot be stranded in it; nor matters what is left in a month that is over.
    const inRedis = redisCounts && kind !== "loss" ? one.lent.redis - one.back.redis : 0;
    const units = one.lent.sql - one.back.sql + inRedis;
    if (!crashed.has(instance)) {
      if (one.spent !== one.written) {
        violate("forgotten", `${nameOf(of)}: ${instance} granted ${one.spent} and wrote down ${one.written}`);
      }
      if (units !== 0) violate("stranded", `${nameOf(of)}: ${units} by ${instance}, which did not crash`);
      return;
    }
    // Two of each lender: what was returned to Redis while it was away is not heard of after a crash.
    const most = { figure: units, bound: (bothLend ? 4 : 2) * leaseOf(of) };
    stranded = worse(stranded, most);
    if (units > most.bound)
      violate("stranded", `${nameOf(of)}: ${units} by the crash of ${instance}, bound ${most.bound}`);
    if (units < 0) violate("stranded", `${nameOf(of)}: ${instance} gave back ${-units} more than it had`);
  }

  return {
    violations,
    /** How long ago a store last denied it to this instance. */
    sinceDenial: (instance: string, key: string, draws: Draws): number =>
      now() - (deniedAt.get(`${instance} ${draws} ${key}`) ?? Number.NEGATIVE_INFINITY),
    crash: (instance: string) => void crashed.add(instance),

    lowered(key: string): void {
      for (const of of accounts.values()) if (of.key === key) of.floor = claimed(of);
    },

    startWith(key: string, draws: Draws, month: string, counted: number): void {
      account(key, draws, month).before = counted;
    },

    spent(instance: string, key: string, draws: Draws, month: string, leased: boolean): void {
      const mine = part(account(key, draws, month), instance);
      mine.spent++;
      if (mine.unheard > 0) mine.unheard--;
      if (leased) mine.leased++;
    },

    /** SQL has committed the answers to these first visits. */
    firstAnswered(
      instance: string,
      visits: readonly FirstVisit[],
      answers: readonly FirstAnswer[],
      month: string,
    ): void {
      for (const [place, { key, draws, max }] of visits.entries()) {
        const answer = answers[place];
        if (answer === undefined) continue;
        const of = account(key, draws, month);
        if (answer.kind === "denied") {
          deny(instance, of, gone(of), max);
          continue;
        }
        claim(of, instance, 1, max);
        const mine = part(of, instance);
        mine.written++;
        mine.unheard++;
        firsts++;
      }
    },

    /** SQL has committed the answers to these asks. */
    sqlAnswered(asks: ReadonlyMap<string, Ask>, answers: readonly LeaseAnswer[]) {
      for (const answer of answers) {
        if (answer.kind !== "granted") continue;
        const ask = asks.get(answer.lease);
        if (ask === undefined) throw new Error(`nobody asked for ${answer.lease}`);
        grant("sql", account(ask.key, ask.draws, answer.month), answer.lease, answer.size, ask.max);
      }
    },

    /** SQL has committed that it has this lease back, whole. */
    sqlTookBack(ask: Ask | undefined, month: string, size: number): void {
      if (ask === undefined) throw new Error("nobody asked for what was taken back");
      const of = account(ask.key, ask.draws, month);
      of.open.sql.delete(ask.id);
      part(of, owner(ask.id)).back.sql += size;
    },

    /** What is gone at this moment, for a denial that the asker hears of later. */
    goneNow: (): ReadonlyMap<string, number> => new Map([...accounts].map(([name, of]) => [name, gone(of)])),

    sqlDenied(then: ReadonlyMap<string, number>, { id, key, draws, max }: Ask, month: string): void {
      deny(owner(id), account(key, draws, month), then.get(`${draws} ${month} ${key}`) ?? 0, max);
    },

    /** SQL has committed this batch, for the first time. */
    written(instance: string, batch: readonly Drained[]): void {
      for (const { key, draws, month, lender, units, leased, unspent, lease } of batch) {
        const of = account(key, draws, month);
        const mine = part(of, instance);
        mine.written += units;
        mine.back[lender] += leased + (lender === "sql" ? unspent : 0);
        if (lender === "sql" && lease !== undefined) of.open.sql.delete(lease);
      }
    },

    /** What SQL had counted when the caller last found the key missing. */
    sending: (caller: string, key: string): number => missed.get(`${caller} ${key}`) ?? 0,

    executed(
      { caller, key, args, reply, made, again, overtaken, known }: Executed,
      used: number | undefined,
      expires: boolean,
    ): void {
      const { key: link, draws, month } = parseKey(key);
      const of = account(link, draws, month);
      if (reply[0] === "missing") {
        if (!overtaken) missed.set(`${caller} ${key}`, of.before + sumOf(of, ({ written }) => written));
        of.notGranted.add(args[idArgument] ?? "");
        return;
      }
      if (reply[0] === "window") {
        of.notGranted.add(args[idArgument] ?? "");
        return;
      }
      if (reply[0] === "garbage") throw new Error(`garbage in ${key}`);
      if (made && (used ?? 0) < known) violate("seeded", `${key} was made with ${used}, and SQL had counted ${known}`);
      if (used !== undefined && !expires) violate("expiry", `${key} never expires`);
      for (let i = headArguments; i < args.length; i += 2) {
        const lease = args[i] ?? "";
        const size = of.open.redis.get(lease);
        of.ended.add(lease);
        if (size === undefined) continue;
        of.open.redis.delete(lease);
        part(of, owner(lease)).back.redis += args[i + 1] === "all" ? size : Math.min(size, Number(args[i + 1]));
      }
      const [id = "", max] = args.slice(idArgument);
      if (reply[0] === "granted" && isGhost(of, id, again)) of.ghosts.set(id, Number(reply[1]));
      else if (reply[0] === "granted") grant("redis", of, id, Number(reply[1]), Number(max));
      if (reply[0] !== "denied") return;
      of.notGranted.add(id);
      deny(caller, of, gone(of), Number(max));
    },

    /** Redis is as it was some time ago, or empty. */
    lost(there: (key: string, lease: string) => boolean): void {
      for (const { key, draws, month, open } of accounts.values()) {
        const name = `links:{${key}}:${draws}:${month}`;
        for (const lease of open.redis.keys()) if (!there(name, lease)) open.redis.delete(lease);
      }
    },

    /** Everything was reachable again, and all instances have been stopped in order. */
    close(rows: readonly Row[], redisMonth: string | undefined): void {
      for (const row of rows) account(row.code, row.draws, row.month);
      for (const of of accounts.values()) {
        const row = rows.find(({ code, draws, month }) => code === of.key && draws === of.draws && month === of.month);
        const { counted, reserved } = row ?? { counted: 0, reserved: 0 };
        const written = of.before + sumOf(of, (one) => one.written);
        if (counted !== written) violate("counted", `${nameOf(of)}: ${counted}, and ${written} were written down`);
        const lent = sumOf(of, (one) => one.lent.sql - one.back.sql);
        if (reserved !== lent || reserved < 0) violate("reserved", `${nameOf(of)}: ${reserved}, and ${lent} are lent`);
        if (bothLend && of.overshoot > slack(of)) {
          violate("overshoot", `${nameOf(of)}: by ${of.overshoot}, bound ${slack(of)}`);
        }
        // By visitors' answers alone, whatever the stores and the code under test believe.
        const spent = of.before + sumOf(of, ({ leased }) => leased);
        const most = highest(of.key) + (bothLend ? slack(of) : 0);
        if (spent > most) violate("overspent", `${nameOf(of)}: ${spent} of ${most}`);
        accountsClosed++;
        for (const [instance, one] of of.parts) closePart(of, instance, one, of.month === redisMonth);
      }
    },

    get figures() {
      let overshoot: Bounded | undefined;
      if (bothLend)
        for (const of of accounts.values()) overshoot = worse(overshoot, { figure: of.overshoot, bound: slack(of) });
      return { overGrant, overshoot, stranded, leases, firsts, accountsClosed };
    },

    violate,
  };
}

export type Books = ReturnType<typeof createBooks>;

const headArguments = 11;
const idArgument = 6;

function parseKey(name: string): { key: string; draws: Draws; month: string } {
  const match = /^links:\{(.+)\}:(hits|exempt):(\d{4}-\d{2})$/.exec(name);
  if (match === null) throw new Error(`${name} is no key of ours`);
  const [, key = "", draws, month = ""] = match;
  return { key, draws: draws === "hits" ? "hits" : "exempt", month };
}
