import { dayMs } from "../base/clock.ts";
import type { Core } from "../core.ts";
import { createEmailStore } from "../email/outbox/store.ts";
import type { Actor } from "../history/history.ts";
import { purgeHistory } from "../history/purge.ts";
import { pruneAnswers } from "../idempotency/answers.ts";
import { trashDays } from "../links/trash/trash-store.ts";
import { prunePeople } from "../people/prune.ts";
import { eraseWorkspaces } from "../people/workspaces/erase.ts";
import { createFeed } from "../sql/feed.ts";
import { pruneLeases } from "../sql/leases.ts";
import type { Cleaned } from "./background.ts";
import { emailDays, expiredLinkDays, feedDays } from "./clean-due.ts";

/** The work of the job `clean`. `clean-due.ts` asks whether there is any: what is added here belongs there, too. */
export type CleanParts = Pick<Core, "sql" | "clock" | "store" | "trash"> & { readonly historyDays: number };

const byClean: Actor = { kind: "job", name: "clean" };
const rowsAtOnce = 500; // short transactions: another writer waits for one of them at most

export async function cleanUp(parts: CleanParts): Promise<Cleaned> {
  const { sql, clock, store, trash, historyDays } = parts;
  const now = clock.now();
  const feed = createFeed(sql);
  return {
    links: await untilFew(() => store.purge(now - expiredLinkDays * dayMs, rowsAtOnce, now)),
    changes: await feed.prune({ before: now - feedDays * dayMs, now }, rowsAtOnce),
    months: await untilFew(() => pruneLeases(sql, now, rowsAtOnce)),
    emails: await untilFew(() => createEmailStore(sql).prune(now - emailDays * dayMs, rowsAtOnce)),
    answers: await untilFew(() => pruneAnswers(sql, rowsAtOnce)),
    signIns: await untilFew(() => prunePeople(sql, now, rowsAtOnce)),
    trashed: await untilFew(() => trash.eraseOld(now - trashDays * dayMs, rowsAtOnce, byClean, now)),
    history: await purgeHistory(sql, now, historyDays),
    workspaces: await eraseWorkspaces(parts),
  };
}

async function untilFew(step: () => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    const done = await step();
    total += done;
    if (done < rowsAtOnce) return total;
  }
}
