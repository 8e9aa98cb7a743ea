import { Problem } from "../base/errors.ts";
import type { TenantId } from "../base/ids.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import type { Db, Trx } from "../sql/tenant-db.ts";

/**
 * Runs the transactions of one tenant one after the other, so that no other changes what one counts. Between servers a
 * lock on the tenant's row ensures that. Within a server they queue before taking a connection, so that a tenant that
 * sends many at once occupies one connection of the pool, and other tenants do not wait.
 */
export type OneAtATime = <Result>(tenant: TenantId, work: (trx: Trx) => Promise<Result>) => Promise<Result>;

const waitingMost = 100;

export function createOneAtATime(sql: Sql): OneAtATime {
  const lockTenant = statement((db: Db, { id }: Params<{ id: TenantId }>) =>
    sql.forUpdate(db.selectFrom("tenants").select("id").where("id", "=", id)),
  );
  const queues = new Map<TenantId, { last: Promise<unknown>; waiting: number }>();

  return (tenant, work) => {
    const queue = queues.get(tenant) ?? { last: Promise.resolve(), waiting: 0 };
    if (queue.waiting >= waitingMost) {
      const detail = "Too many of your requests are doing the same. Try again shortly.";
      return Promise.reject(new Problem("busy", detail, { retryAfterSeconds: 1 }));
    }
    const mine = queue.last.then(() =>
      sql.transaction(async (trx) => {
        await lockTenant.all(trx, { id: tenant });
        return await work(trx);
      }),
    );
    queue.waiting++;
    queue.last = mine.then(end, end);
    queues.set(tenant, queue);

    function end(): void {
      if (--queue.waiting === 0) queues.delete(tenant);
    }

    return mine;
  };
}
