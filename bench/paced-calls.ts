/** Calls of this process at a fixed rate, each timed from the call to its answer. */
export interface PacedCalls {
  readonly ms: number[];
  /** How late this process itself woke up. */
  readonly lateMs: number[];
}

export async function paceCalls(
  call: (place: number) => Promise<unknown>,
  perSecond: number,
  roundMs: number,
): Promise<PacedCalls> {
  const [ms, lateMs]: [number[], number[]] = [[], []];
  const [started, stepMs] = [performance.now(), 1_000 / perSecond];
  const called: Promise<void>[] = [];
  const time = async (place: number) => {
    const at = performance.now();
    await call(place);
    ms.push(performance.now() - at);
  };
  for (let dueMs = started; dueMs < started + roundMs; ) {
    const now = performance.now();
    for (; dueMs <= now; dueMs += stepMs) {
      lateMs.push(now - dueMs);
      called.push(time(called.length));
    }
    await Bun.sleep(Math.max(0, dueMs - performance.now()));
  }
  await Promise.all(called);
  return { ms, lateMs };
}
