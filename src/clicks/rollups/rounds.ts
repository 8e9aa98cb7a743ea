import type { TenantId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { condenseTenant } from "./condense.ts";
import { dueTenants } from "./due-tenants.ts";
import { createValueNames } from "./value-names.ts";
import type { CondensedTenant } from "./write-rollups.ts";

/**
 * One run of condensing: all tenants that have something to condense. Some of them are worked on at a time, a chunk of
 * each in turn, so that one with millions of clicks does not hold up the others. Two processes that run at the same time
 * write the same rows.
 */
export interface CondenseOptions {
  /** The database's time. */
  readonly now: number;
}

export interface Condensed {
  readonly tenants: number;
  readonly events: number;
}

const tenantsAtOnce = 8;
const pageTenants = 200;

export async function condense(sql: Sql, { now }: CondenseOptions): Promise<Condensed> {
  const names = createValueNames(sql);
  const waiting = tenantsToCondense(sql, now);
  const working = new Set<AsyncGenerator<number, void>>();
  const errors: unknown[] = [];
  let [tenants, events] = [0, 0];

  /** Whether there was another one. */
  async function begin(): Promise<boolean> {
    const { value: tenant } = await waiting.next();
    if (tenant === undefined) return false;
    tenants++;
    working.add(condenseTenant(sql, tenant, names, now));
    return true;
  }

  let more = true;
  for (;;) {
    while (more && working.size < tenantsAtOnce) more = await begin();
    if (working.size === 0) break;
    for (const turn of working) {
      try {
        const { done, value } = await turn.next();
        if (done) working.delete(turn);
        else events += value;
      } catch (error) {
        // The others go on; the job fails in the end.
        working.delete(turn);
        errors.push(error);
        if (errors.length === errorsMost) throw error;
      }
    }
  }
  if (errors.length > 0) throw errors[0];
  return { tenants, events };
}

/** If so many tenants fail, the database does. */
const errorsMost = 5;

/** In the order of their ids. Found in pages: the scan looks at every tenant that ever had clicks. */
async function* tenantsToCondense(sql: Sql, now: number): AsyncGenerator<CondensedTenant, undefined> {
  for (let after = "" as TenantId; ; ) {
    const page = await dueTenants(sql, { now, after, limit: pageTenants });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageTenants) return undefined;
    after = last.id;
  }
}
