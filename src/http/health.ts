import type { Clock } from "../base/clock.ts";
import { Late, withDeadline } from "../base/deadline.ts";

/** What the server depends on, asked one by one with a deadline. */
export interface Dependency {
  readonly name: string;
  ping(): Promise<void>;
}

export interface Readiness {
  /** `degraded`: something is missing, but redirects are still answered. */
  readonly status: "ready" | "degraded" | "unready";
  readonly dependencies: Record<string, { readonly ok: boolean; readonly ms: number; readonly error?: string }>;
}

const deadlineMs = 1_000;

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

/** Anybody may ask: say what is wrong, not where things are. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return error instanceof Late ? error.message : "failed";
}
