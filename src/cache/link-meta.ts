/**
 * What an operator wants to know about a link besides its destination. No redirect reads it, and it may be slightly
 * old.
 */
export interface LinkMeta {
  /** Version of the link this describes: another version may have another status. */
  readonly version: number;
  /** Counted hits this month. */
  readonly hits: number;
  readonly expiresAt: number | null;
  readonly status: MetaStatus;
}

export const metaStatuses = ["active", "disabled", "expired"] as const;
export type MetaStatus = (typeof metaStatuses)[number];
