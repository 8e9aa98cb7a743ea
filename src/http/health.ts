import type { Clock } from "../base/clock.ts";
import { Late, withDeadline } from "../base/deadline.ts";
import type { Metrics } from "../base/metrics.ts";

/** The server's dependencies, each checked with a timeout. */
export interface Dependency {
  readonly name: string;
  ping(): Promise<void>;
}

export interface Readiness {
  /** `degraded`: a dependency is unavailable, but redirects are still answered. */
  readonly status: (typeof states)[number];
  readonly dependencies: Record<string, { readonly ok: boolean; readonly ms: number; readonly error?: string }>;
}

const deadlineMs = 1_000;
const states = ["ready", "degraded", "unready"] as const;

export async function readiness(
  dependencies: readonly Dependency[],
  canRedirect: () => boolean,
  clock: Clock,
): Promise<Readiness> {
  const checks = await Promise.all(
    dependencies.map(async ({ name, ping }) => {
      const started = clock.elapsed();
      const error = await withDeadline(ping(), deadlineMs, name).then(
        () => undefined,
        (reason: unknown) => reasonOf(reason),
      );
      const ms = Math.round((clock.elapsed() - started) * 100) / 100;
      return [name, error === undefined ? { ok: true, ms } : { ok: false, ms, error }] as const;
    }),
  );
  const allWell = checks.every(([, check]) => check.ok);
  return {
    status: allWell ? "ready" : canRedirect() ? "degraded" : "unready",
    dependencies: Object.fromEntries(checks),
  };
}

/** The same for Prometheus. Checked by a job, not by the scrape, which must answer even when a dependency does not. */
export function watchReadiness(ask: () => Promise<Readiness>, metrics: Metrics): () => Promise<void> {
  let last: Readiness | undefined;
  const dependencyUp = {
    name: "quicklink_dependency_up",
    help: "1 if the dependency answered the last check within a second.",
    labels: ["dependency"],
    merged: "min",
  } as const;
  metrics.series("gauge", dependencyUp, () =>
    Object.entries(last?.dependencies ?? {}).map(([dependency, { ok }]) => [{ dependency }, Number(ok)] as const),
  );
  metrics.gauge(
    "quicklink_readiness",
    "0 ready, 1 degraded (a dependency is unavailable, but redirects are answered), 2 unready.",
    () => (last === undefined ? 0 : states.indexOf(last.status)),
    "max",
  );
  return async () => {
    last = await ask();
  };
}

/** Anyone may read this: say what is wrong, not where things are. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return error instanceof Late ? error.message : "failed";
}
