import { Problem } from "./errors.ts";
import { createFairQueue } from "./fair-queue.ts";
import type { Metrics } from "./metrics.ts";

/**
 * A resource that only so many can use at once, such as uploads or password checks, shared so that no holder (a tenant,
 * a network) keeps the others from it. `fair-queue.ts` has the rules; this adds the waiting: it has an end, and a caller
 * that leaves gives up its place. docs/adr/0032-shares.md says why.
 */
export interface Shares {
  /** A place when the holder's turn comes. Whoever enters must leave. */
  enter(holder: string, options?: EnterOptions): Promise<Entered>;
  /** Does the work in such a place. Throws a `Problem` `busy` when there is none. */
  run<Result>(holder: string, work: () => Promise<Result>, options?: EnterOptions): Promise<Result>;
  readonly settings: SharesSettings;
  readonly figures: ShareFigures;
}

export interface SharesSettings {
  /** What it is, in metrics: `uploads`. */
  readonly resource: string;
  /** What there is too much of, as the caller is told: `uploads`, `large requests`. */
  readonly what: string;
  readonly atOnce: number;
  readonly waitingMost: number;
  readonly waitMs: number;
  readonly retryAfterSeconds: number;
}

export interface EnterOptions {
  /** The caller left. */
  readonly signal?: AbortSignal;
  /** Null: until the signal. */
  readonly waitMs?: number | null;
}

/** `leave` may be called again, to no effect. */
export type Entered =
  | { readonly kind: "entered"; leave(): void }
  | { readonly kind: "busy"; readonly problem: Problem };

export interface ShareFigures {
  readonly running: number;
  readonly waiting: number;
  /** `full`: too many wait. `late`: its turn did not come in time. `left`: the caller did not wait for it. */
  readonly refused: Readonly<Record<Refusal, number>>;
}

type Refusal = (typeof refusals)[number];
const refusals = ["full", "late", "left"] as const;

interface Ticket {
  start(): void;
  refuse(why: Refusal): void;
}

export function createShares(settings: SharesSettings): Shares {
  const { atOnce, waitingMost, what, retryAfterSeconds } = settings;
  const refused: Record<Refusal, number> = { full: 0, late: 0, left: 0 };
  const queue = createFairQueue<Ticket>({
    atOnce,
    waitingMost,
    start: (ticket) => ticket.start(),
    refuse: (ticket) => ticket.refuse("full"),
  });
  const busy = (): Entered => ({
    kind: "busy",
    problem: new Problem("busy", `Too many ${what} are running or waiting. Try again in ${retryAfterSeconds} s.`, {
      retryAfterSeconds,
    }),
  });

  function place(holder: string): Entered {
    let inside = true;
    return {
      kind: "entered",
      leave() {
        if (inside) queue.end(holder);
        inside = false;
      },
    };
  }

  function enter(holder: string, { signal, waitMs = settings.waitMs }: EnterOptions = {}): Promise<Entered> {
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      let over = false;
      const ended = () => {
        over = true;
        clearTimeout(timer);
        signal?.removeEventListener("abort", left);
      };
      const ticket: Ticket = {
        start() {
          ended();
          resolve(place(holder));
        },
        refuse(why) {
          ended();
          refused[why]++;
          resolve(busy());
        },
      };
      const giveUp = (why: Refusal) => {
        if (queue.withdraw(holder, ticket)) ticket.refuse(why);
      };
      const left = () => giveUp("left");
      if (signal?.aborted) return ticket.refuse("left");
      queue.add(holder, ticket);
      if (over) return;
      signal?.addEventListener("abort", left);
      if (waitMs !== null) timer = setTimeout(giveUp, waitMs, "late");
    });
  }

  return {
    enter,
    settings,
    async run(holder, work, options) {
      const entered = await enter(holder, options);
      if (entered.kind === "busy") throw entered.problem;
      try {
        return await work();
      } finally {
        entered.leave();
      }
    },
    get figures() {
      return { running: queue.running, waiting: queue.waiting, refused };
    },
  };
}

/** Never by holder: there are as many of them as there are addresses. */
export function countShares(metrics: Metrics, all: readonly Shares[]): void {
  const of = (read: (shares: Shares) => number) => () =>
    all.map((shares) => [{ resource: shares.settings.resource }, read(shares)] as const);
  const labels = ["resource"];
  metrics.series(
    "gauge",
    { name: "quicklink_shares_running", help: "Places of a shared resource in use.", labels },
    of(({ figures }) => figures.running),
  );
  metrics.series(
    "gauge",
    { name: "quicklink_shares_places", help: "Places of a shared resource.", labels },
    of(({ settings }) => settings.atOnce),
  );
  metrics.series(
    "gauge",
    { name: "quicklink_shares_waiting", help: "Callers waiting for a place of a shared resource.", labels },
    of(({ figures }) => figures.waiting),
  );
  metrics.series(
    "counter",
    {
      name: "quicklink_shares_refused_total",
      help: "Callers that got no place: too many were waiting, the wait took too long, or the caller left.",
      labels: [...labels, "why"],
    },
    () =>
      all.flatMap(({ settings: { resource }, figures }) =>
        refusals.map((why) => [{ resource, why }, figures.refused[why]] as const),
      ),
  );
}
