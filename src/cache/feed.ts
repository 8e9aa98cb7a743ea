/**
 * The change feed as its readers see it. Everything that decides an answer has a version that only grows, and every new
 * version is a change: committed with what it is about (`sql/versions.ts`), published by the server that made it, and
 * read from the feed by all others (`sql/feed.ts`, `follow.ts`).
 *
 * A link is named by (domain, code), everything else by one key: a domain by its host, a tenant by its number (which every
 * cached link has), a plan by its name, an API key by its hash, and what a person may do (`session`) by the person's ID.
 */
export type Change = LinkVersion | AddedLinks | KeyVersion;

export interface LinkVersion {
  readonly kind: "link";
  /** Empty: the server's own domain. */
  readonly domain: string;
  readonly code: string;
  readonly version: number;
}

/** Many links that were created together, with codes that were never used: an import writes one change for each 64 of its links. */
export interface AddedLinks {
  readonly kind: "links";
  readonly domain: string;
  /** With spaces between them. They are split only where they are needed, because visitors wait while a page of the feed is read. */
  readonly codes: string;
  readonly version: number;
}

export interface KeyVersion {
  readonly kind: "domain" | "tenant" | "plan" | "key" | "session";
  readonly key: string;
  readonly version: number;
}

/** Called by the writer after the commit, once for each change. */
export type Publish = (change: Change) => void;

export type RecordedChange = Change & {
  /** When it was made, by the clock of the server that made it. */
  readonly at: number;
};

export interface Feed<Position> {
  /** The current end: later commits come after it. */
  end(): Promise<Position>;
  after(cursor: Position, limit: number): Promise<FeedPage<Position>>;
  /** Text that sorts as positions do. */
  toText(position: Position): string;
  fromText(text: string): Position;
}

export interface FeedPage<Position> {
  readonly changes: readonly RecordedChange[];
  /** The end of this page. */
  readonly next: Position;
  /**
   * How far a follower may advance for good: up to here no change can be missing. `undefined` if that is before this
   * page.
   */
  readonly finalUntil: Position | undefined;
  /** How many of the changes are final. */
  readonly finalCount: number;
}
