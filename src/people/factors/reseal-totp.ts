import type { PersonId } from "../../base/ids.ts";
import type { Ring } from "../../base/seal.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import type { Db } from "../../sql/tenant-db.ts";
import { totpContext } from "./totp.ts";

export interface ResealedTotp {
  readonly resealed: number;
  /** Already encrypted with the first key. */
  readonly current: number;
  /** Cannot be decrypted with any key of the ring: these people need their recovery codes, or a reset. */
  readonly lost: readonly PersonId[];
}

const pageRows = 500;

/**
 * Encrypts the secrets of authenticator apps again with the first key of the ring. Row by row: an interrupted run continues
 * where it stopped. A secret that was replaced or removed meanwhile stays as it is; a new one is encrypted with the first
 * key anyway.
 */
export async function resealTotp({ db }: Sql, ring: Ring): Promise<ResealedTotp> {
  let [resealed, current] = [0, 0];
  const lost: PersonId[] = [];
  for (let after = "" as PersonId; ; ) {
    const page = await selectSealed.all(db, { after, most: pageRows });
    for (const { id, totp } of page) {
      if (totp === null || ring.isCurrent(totp)) current++;
      else {
        const opened = ring.open(totp, totpContext(id));
        if (opened.kind !== "opened") lost.push(id);
        else resealed += await replaceSealed.run(db, { id, totp, sealed: ring.seal(opened.secret, totpContext(id)) });
      }
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) return { resealed, current, lost };
    after = last.id;
  }
}

const selectSealed = statement((db: Db, { after, most }: Params<{ after: PersonId; most: number }>) =>
  db
    .selectFrom("people")
    .select(["id", "totp"])
    .where("id", ">", after)
    .where("totp", "is not", null)
    .orderBy("id")
    .limit(most),
);

const replaceSealed = statement(
  (db: Db, { id, totp, sealed }: Params<{ id: PersonId; totp: string; sealed: string }>) =>
    db.updateTable("people").set({ totp: sealed }).where("id", "=", id).where("totp", "=", totp),
);
