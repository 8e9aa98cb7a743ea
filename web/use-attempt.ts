import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError } from "./api/call.ts";

/** Something that a person tries: one at a time, what went wrong, and how long to wait before the next attempt. */
export interface Attempt {
  readonly isBusy: boolean;
  readonly error: unknown;
  /** Above 0 while the API refuses every attempt. */
  readonly waitSeconds: number;
  /** Whether it succeeded. A second one is ignored while the first runs. */
  run(work: () => Promise<void>): Promise<boolean>;
  clear(): void;
}

export function useAttempt(): Attempt {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [waitSeconds, setWait] = useState(0);
  const running = useRef(false);

  useEffect(() => {
    if (waitSeconds <= 0) return;
    const timer = setTimeout(() => {
      setWait(waitSeconds - 1);
      if (waitSeconds === 1) setError(undefined);
    }, 1_000);
    return () => clearTimeout(timer);
  }, [waitSeconds]);

  const run = useCallback(async (work: () => Promise<void>): Promise<boolean> => {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await work();
      return true;
    } catch (thrown) {
      setError(thrown);
      const isLimit = thrown instanceof ApiError && thrown.status === 429;
      setWait(isLimit ? (thrown.retryAfterSeconds ?? 0) : 0);
      return false;
    } finally {
      running.current = false;
      setBusy(false);
    }
  }, []);
  const clear = useCallback(() => setError(undefined), []);
  return { isBusy, error, waitSeconds, run, clear };
}
