/** What can go wrong, counted when it does. */
export const faultKinds = [
  "crash",
  "pause",
  "request_lost",
  "reply_lost",
  "reply_late",
  "executed_late",
  "executed_after_newer",
  "executed_twice",
  "redis_pause",
  "redis_away",
  "redis_loss",
  "redis_failover",
  "sql_request_lost",
  "sql_reply_lost",
  "sql_late",
  "sql_away",
  "sql_locked",
  "sql_failed",
  "clock_back",
  "clock_forward",
  "clock_month_off",
  "redis_clock_back",
  "redis_clock_forward",
  "month_end",
  "limit_raised",
  "limit_lowered",
  "limit_removed",
] as const;

export type FaultKind = (typeof faultKinds)[number];
export type Tally = Record<FaultKind, number>;

export const noFaults = (): Tally => Object.fromEntries(faultKinds.map((kind) => [kind, 0])) as Tally;
