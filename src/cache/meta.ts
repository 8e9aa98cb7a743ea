/** What an operator wants to know of a link besides where it leads. No redirect asks for it, and it may be a little old. */
export interface LinkMeta {
  /** Of the link that this is about: another version may have another status. */
  readonly version: number;
  /** That counted, this month. */
  readonly hits: number;
  readonly expiresAt: number | null;
  readonly status: MetaStatus;
}

export const metaStatuses = ["active", "disabled", "expired"] as const;
export type MetaStatus = (typeof metaStatuses)[number];
