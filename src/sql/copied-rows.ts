import type { PoolClient, QueryResult } from "pg";

/** The rows of a `copy … from stdin`, as its only parameter. */
export class CopiedRows {
  constructor(readonly text: string) {}
}

/**
 * COPY on a connection of pg, which has its messages and no function for them. The rows are sent right after the statement, without
 * waiting until PostgreSQL asks for them: if it refuses the statement, it passes over them.
 */
export function copyRows(client: PoolClient, statement: string, { text }: CopiedRows): Promise<QueryResult> {
  return new Promise((resolve, reject) => {
    const copy: Copy & { callback?: (error?: Error) => void } = {
      submit(connection) {
        connection.stream.cork();
        connection.query(statement);
        connection.sendCopyFromChunk(Buffer.from(text));
        connection.endCopyFrom();
        connection.stream.uncork();
      },
      handleCopyInResponse() {},
      handleCommandComplete() {},
      handleReadyForQuery() {
        copy.callback?.();
        resolve({ command: "COPY", rowCount: null, oid: 0, fields: [], rows: [] });
      },
      handleError(error) {
        copy.callback?.(error);
        reject(error);
      },
      // pg puts the timer of its query timeout around this.
      callback() {},
    };
    client.query(copy as never);
  });
}

/** What pg wants of a query. */
interface Copy {
  submit(connection: CopyConnection): void;
  handleCopyInResponse(): void;
  handleCommandComplete(): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
}

interface CopyConnection {
  readonly stream: { cork(): void; uncork(): void };
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}
