/**
 * How much of a limit an instance leases at once. Large leases mean few calls. Small leases lose little in a crash, and
 * avoid refusing the last units of a limit here while another instance holds them unused.
 */
export interface LeaseWish {
  /** About a second of the link's traffic. */
  readonly want: number;
  readonly max: number;
  readonly remaining: number;
  /** Instances that may hold a lease of the same limit at the same time. */
  readonly holders: number;
}

export const leastWhilePlenty = 10;
const mostUnits = 1_000;
const mostShare = 100; // of the limit: 100 leases and as many recordings a month, however hot the link

/** The largest lease of a limit, whatever is wanted: a crash loses at most twice this. */
export const largestLease = (max: number): number => Math.max(1, Math.min(mostUnits, Math.floor(max / mostShare)));

/** 0 when nothing remains; shrinks to 1 towards the end, so that no holder keeps what another needs. */
export function leaseSize({ want, max, remaining, holders }: LeaseWish): number {
  if (remaining <= 0) return 0;
  const fair = Math.floor(remaining / (2 * Math.max(1, holders)));
  return Math.max(1, Math.min(Math.max(want, leastWhilePlenty), largestLease(max), fair));
}
