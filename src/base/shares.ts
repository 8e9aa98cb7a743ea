import { Problem } from "./errors.ts";
import { createFairQueue } from "./fair-queue.ts";
import type { Metrics } from "./metrics.ts";

/**
 * A resource that only a limited number can use at once, such as uploads or password checks, shared so that no holder
 * (a tenant, a network) can exclude the others. `fair-queue.ts` has the rules; this file adds waiting, which has a
 * timeout, and releases the place of a caller that leaves. See docs/adr/0032-shares.md.
 */
export interface Shares {
  /** Waits for a place. Every caller that enters must leave. */
  enter(holder: string, options?: EnterOptions): Promise<Entered>;
  /** Does the work in a place. Throws a `Problem` `busy` when there is none. */
  run<Result>(holder: string, work: () => Promise<Result>, options?: EnterOptions): Promise<Result>;
  readonly settings: SharesSettings;
  readonly figures: ShareFigures;
}

export interface SharesSettings {
  /** Name in metrics: `uploads`. */
  readonly resource: string;
  /** Name in error messages: `uploads`, `large requests`. */
  readonly what: string;
  readonly atOnce: number;
  readonly waitingMost: number;
  readonly waitMs: number;
  readonly retryAfterSeconds: number;
}

export interface EnterOptions {
  /** Aborted when the caller leaves. */
  readonly signal?: AbortSignal;
  /** Null: wait until the signal. */
  readonly waitMs?: number | null;
}

/** Calling `leave` again has no effect. */
export type Entered =
  | { readonly kind: "entered"; leave(): void }
  | { readonly kind: "busy"; readonly problem: Problem };

export interface ShareFigures {
  readonly running: number;
  readonly waiting: number;
  /** `full`: too many are waiting. `late`: its turn did not come in time. `left`: the caller left. */
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

/** Not labelled by holder: there are as many holders as IP addresses. */
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
