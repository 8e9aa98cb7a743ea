import { beforeAll, describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { manualClock } from "../../src/base/clock.ts";
import { newId, type PersonId } from "../../src/base/ids.ts";
import { createRing, newKey } from "../../src/base/seal.ts";
import { byCommand } from "../../src/history/history.ts";
import { createSessionCookie } from "../../src/http/session-cookie.ts";
import { createSecondFactorCodes } from "../../src/people/factors/codes.ts";
import { createKnownDevices, devicesMost, rememberedMs } from "../../src/people/factors/known-devices.ts";
import { createRecoveryCodes, recoveryCodesCount } from "../../src/people/factors/recovery-codes.ts";
import { resealTotp } from "../../src/people/factors/reseal-totp.ts";
import { createSecondStep, type SecondStep } from "../../src/people/factors/second-step.ts";
import { createTotp, offerMs, periodMs, type Totp, totpContext } from "../../src/people/factors/totp.ts";
import { createPeople, type People } from "../../src/people/people.ts";
import type { Person } from "../../src/people/person.ts";
import { createSessions } from "../../src/people/sessions.ts";
import type { FinishedSignIn } from "../../src/people/sign-in/finish.ts";
import { createPersonTokens } from "../../src/people/tokens.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { onEachDatabase } from "./databases.ts";

const clock = manualClock(Date.UTC(2026, 10, 17, 12));
const ring = createRing([newKey()]);

async function addPerson(sql: Sql): Promise<{ id: PersonId; email: string }> {
  const id = newId("person", clock);
  const email = `${id.slice(-10)}@example.com`;
  const row = { id, email, mailbox: email, name: "Ann", password_hash: null, verified_at: null, disabled_at: null };
  await sql.db
    .insertInto("people")
    .values({ ...row, totp: null, totp_step: null, created_at: clock.now() })
    .execute();
  return { id, email };
}

const codeAt = (secret: string, at: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at });

onEachDatabase((database) => {
  let sql: Sql;
  let other: Sql;
  let totp: Totp;
  let people: People;
  const never = (): never => {
    throw new Error("nothing is looked up");
  };

  beforeAll(async () => {
    [sql, other] = await database.openTwo();
    totp = createTotp({ sql, clock, ring, issuer: "go.example.com" });
    const access = { peek: () => undefined, lookup: () => never() };
    const sessions = createSessions({ sql, clock, publish() {}, access });
    people = createPeople({ sql, clock, sessions, tokens: createPersonTokens(clock) });
  });

  /** A person with an app, and its secret. The step of now is used. */
  async function withTotp() {
    const person = await addPerson(sql);
    const { secret } = await totp.offer(person);
    const checked = await totp.checkOffer(person.id, codeAt(secret, clock.now()));
    if (checked.kind !== "right") throw new Error(checked.kind);
    expect(await sql.transaction((trx) => totp.turnOn(trx, person.id, checked))).toBe(true);
    return { ...person, secret };
  }

  const reset = (person: PersonId) => people.removeSecondFactor(person, byCommand);

  async function accepts(person: PersonId, code: string, on: Totp = totp, at: Sql = sql): Promise<boolean> {
    const step = await on.check(person, code);
    return step !== undefined && (await on.use(at.db, person, step));
  }

  describe("TOTP", () => {
    test("an app is on once its person has shown a code of it", async () => {
      const person = await addPerson(sql);
      const { secret, url } = await totp.offer(person);
      expect(url).toStartWith("otpauth://totp/go.example.com:");
      expect(new URL(url).searchParams.get("secret")).toBe(secret);
      expect(await totp.checkOffer(person.id, codeAt(secret, clock.now() + 10 * periodMs))).toEqual({ kind: "wrong" });
      expect(await accepts(person.id, codeAt(secret, clock.now()))).toBe(false);
    });

    test("the code that turned it on does not sign in", async () => {
      const { id, secret } = await withTotp();
      expect(await accepts(id, codeAt(secret, clock.now()))).toBe(false);
      clock.advance(periodMs);
      expect(await accepts(id, codeAt(secret, clock.now()))).toBe(true);
    });

    test("a code works once, and none of an earlier step after it", async () => {
      const { id, secret } = await withTotp();
      clock.advance(2 * periodMs);
      const [before, now, after] = [-1, 0, 1].map((steps) => codeAt(secret, clock.now() + steps * periodMs));
      expect(await accepts(id, now ?? "")).toBe(true);
      expect(await accepts(id, now ?? "")).toBe(false);
      expect(await accepts(id, before ?? "")).toBe(false);
      expect(await accepts(id, after ?? "")).toBe(true);
    });

    test("a code given twice at once, on two servers, is accepted once", async () => {
      const { id, secret } = await withTotp();
      const elsewhere = createTotp({ sql: other, clock, ring, issuer: "go.example.com" });
      for (let round = 0; round < 10; round++) {
        clock.advance(periodMs);
        const code = codeAt(secret, clock.now());
        const both = await Promise.all([accepts(id, code), accepts(id, code, elsewhere, other)]);
        expect(both.filter(Boolean)).toEqual([true]);
      }
    });

    test("codes of two steps away, and texts that are no codes, are refused", async () => {
      const { id, secret } = await withTotp();
      clock.advance(10 * periodMs);
      const near = codeAt(secret, clock.now());
      const wrong = [
        ...[-2, 2].map((steps) => codeAt(secret, clock.now() + steps * periodMs)),
        ...["", "12345", `0${near}`, ` ${near}`, near.replace(/\d/g, (d) => String.fromCharCode(0x660 + Number(d)))],
      ];
      for (const code of wrong) expect([code, await accepts(id, code)]).toEqual([code, false]);
      expect(await accepts(id, near)).toBe(true);
    });

    test("an offer ends, and a later one replaces it", async () => {
      const person = await addPerson(sql);
      const first = await totp.offer(person);
      const second = await totp.offer(person);
      expect((await totp.checkOffer(person.id, codeAt(first.secret, clock.now()))).kind).toBe("wrong");
      clock.advance(offerMs);
      expect((await totp.checkOffer(person.id, codeAt(second.secret, clock.now()))).kind).toBe("none");
    });

    test("an offer that is confirmed twice at once is turned on once", async () => {
      const person = await addPerson(sql);
      const { secret } = await totp.offer(person);
      const checked = await totp.checkOffer(person.id, codeAt(secret, clock.now()));
      if (checked.kind !== "right") throw new Error(checked.kind);
      const turnOn = (on: Sql) => on.transaction((trx) => totp.turnOn(trx, person.id, checked));
      expect((await Promise.all([turnOn(sql), turnOn(other)])).filter(Boolean)).toEqual([true]);
    });

    test("a secret moved to another person's row is not accepted there", async () => {
      const [ann, bob] = [await withTotp(), await addPerson(sql)];
      const { totp: sealed } = await sql.db
        .selectFrom("people")
        .select("totp")
        .where("id", "=", ann.id)
        .executeTakeFirstOrThrow();
      expect(sealed).not.toContain(ann.secret);
      await sql.db.updateTable("people").set({ totp: sealed }).where("id", "=", bob.id).execute();
      await expect(totp.check(bob.id, codeAt(ann.secret, clock.now()))).rejects.toThrow("cannot be decrypted");
    });

    test("a code checked against a secret that was replaced meanwhile uses nothing", async () => {
      const { id, email, secret } = await withTotp();
      clock.advance(periodMs);
      const step = await totp.check(id, codeAt(secret, clock.now()));
      expect(await reset(id)).toBe(true);
      expect(await reset(id)).toBe(false);
      expect(await accepts(id, codeAt(secret, clock.now()))).toBe(false);
      const offer = await totp.offer({ id, email });
      const checked = await totp.checkOffer(id, codeAt(offer.secret, clock.now() - periodMs));
      if (checked.kind !== "right" || step === undefined) throw new Error("no step");
      expect(await sql.transaction((trx) => totp.turnOn(trx, id, checked))).toBe(true);
      expect(await totp.use(sql.db, id, step)).toBe(false);
    });
  });

  test("secrets are encrypted again with a new key, and only those that have an old one", async () => {
    const [ann, bob] = [await withTotp(), await withTotp()];
    const [oldKey, newer] = [newKey(), newKey()];
    const sealedBy = (keys: readonly ReturnType<typeof newKey>[], person: PersonId, secret: string) =>
      sql.db
        .updateTable("people")
        .set({ totp: createRing(keys).seal(secret, totpContext(person)) })
        .where("id", "=", person)
        .execute();
    await sql.db.updateTable("people").set({ totp: null }).execute();
    await sealedBy([oldKey], ann.id, ann.secret);
    await sealedBy([newKey()], bob.id, bob.secret);
    const rotated = createRing([newer, oldKey]);
    expect(await resealTotp(sql, rotated)).toEqual({ resealed: 1, current: 0, lost: [bob.id] });
    expect(await resealTotp(sql, rotated)).toEqual({ resealed: 0, current: 1, lost: [bob.id] });
    clock.advance(periodMs);
    const withoutOld = createTotp({ sql, clock, ring: createRing([newer]), issuer: "go.example.com" });
    expect(await accepts(ann.id, codeAt(ann.secret, clock.now()), withoutOld)).toBe(true);
  });

  test("a reset takes app, recovery codes and remembered devices, of one person", async () => {
    const codes = createRecoveryCodes(sql, clock);
    const devices = createKnownDevices(sql, clock);
    const [ann, bob] = [await withTotp(), await withTotp()];
    const cookies: string[] = [];
    for (const { id } of [ann, bob]) {
      await sql.transaction((trx) => codes.replace(trx, id));
      cookies.push(await sql.transaction((trx) => devices.remember(trx, id, "Firefox")));
    }
    expect(await reset(ann.id)).toBe(true);
    clock.advance(periodMs);
    const left = async ({ id, secret }: typeof ann, cookie: string | undefined) => [
      ...[await accepts(id, codeAt(secret, clock.now())), await codes.left(id), await devices.isKnown(id, cookie)],
    ];
    expect(await left(ann, cookies[0])).toEqual([false, 0, false]);
    expect(await left(bob, cookies[1])).toEqual([true, recoveryCodesCount, true]);
  });

  describe("recovery codes", () => {
    test("each of ten works once, however it is typed, for its person only", async () => {
      const codes = createRecoveryCodes(sql, clock);
      const [ann, bob] = [await addPerson(sql), await addPerson(sql)];
      const made = await sql.transaction((trx) => codes.replace(trx, ann.id));
      await sql.transaction((trx) => codes.replace(trx, bob.id));
      expect(new Set(made).size).toBe(recoveryCodesCount);
      const [first = "", second = "", ...others] = made;
      expect(await codes.use(sql.db, bob.id, first)).toBe(false);
      expect(
        await codes.use(sql.db, ann.id, ` ${first.toUpperCase().replaceAll("-", " ").replaceAll("0", "O")} `),
      ).toBe(true);
      expect(await codes.use(sql.db, ann.id, first)).toBe(false);
      expect(await codes.left(ann.id)).toBe(recoveryCodesCount - 1);
      const both = await Promise.all([codes.use(sql.db, ann.id, second), codes.use(other.db, ann.id, second)]);
      expect(both.filter(Boolean)).toEqual([true]);
      for (const code of others) expect(await codes.use(sql.db, ann.id, code)).toBe(true);
      expect(await codes.left(ann.id)).toBe(0);
      expect(await codes.left(bob.id)).toBe(recoveryCodesCount);
    });

    test("new codes end those of before", async () => {
      const codes = createRecoveryCodes(sql, clock);
      const ann = await addPerson(sql);
      const [old = ""] = await sql.transaction((trx) => codes.replace(trx, ann.id));
      const [fresh = ""] = await sql.transaction((trx) => codes.replace(trx, ann.id));
      expect(await codes.use(sql.db, ann.id, old)).toBe(false);
      expect(await codes.use(sql.db, ann.id, fresh)).toBe(true);
    });
  });

  describe("the second step", () => {
    /** On one of two servers. The session itself is tested elsewhere: here it is the transaction that would start it. */
    function stepOn(on: Sql): SecondStep {
      const begin = async () => ({ right: async () => {}, undo: async () => {} });
      const codes = createSecondFactorCodes({ totp, recoveryCodes: createRecoveryCodes(on, clock), begin });
      return createSecondStep({
        ...{ sql: on, tokens: createPersonTokens(clock), codes, devices: createKnownDevices(on, clock) },
        ...{ cookie: createSessionCookie("http://localhost"), deviceOf: () => "Firefox", refused: { note() {} } },
        async finish({ before, after }) {
          await on.transaction(async (trx) => {
            await before?.(trx);
            await after?.(trx);
          });
          return { cookies: [] } as unknown as FinishedSignIn;
        },
      });
    }

    test("a token that two servers take at once signs in once, and the other's code is not used up", async () => {
      const { id, email } = await withTotp();
      const person = { id, email, hasTotp: true } as Person;
      const codes = await sql.transaction((trx) => createRecoveryCodes(sql, clock).replace(trx, id));
      for (let i = 0; i < 6; i += 2) {
        const token = await stepOn(sql).challenge(person, { method: "password", isLasting: false });
        const from = { request: new Request("http://localhost"), address: undefined, remembersDevice: false };
        const both = [sql, other].map((on, n) => stepOn(on).answer({ token, code: codes[i + n] ?? "", ...from }));
        const outcomes = await Promise.allSettled(both);
        expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
        const [lost] = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [String(outcome.reason)] : []));
        expect(lost).toContain("token_invalid");
        expect(await createRecoveryCodes(sql, clock).left(id)).toBe(recoveryCodesCount - 1 - i / 2);
      }
    });
  });

  describe("remembered devices", () => {
    test("a device is known to its person for 30 days", async () => {
      const devices = createKnownDevices(sql, clock);
      const [ann, bob] = [await addPerson(sql), await addPerson(sql)];
      const cookie = await sql.transaction((trx) => devices.remember(trx, ann.id, "Firefox on Linux"));
      expect(await devices.isKnown(ann.id, cookie)).toBe(true);
      expect(await devices.isKnown(bob.id, cookie)).toBe(false);
      expect(await devices.isKnown(ann.id, undefined)).toBe(false);
      expect(await devices.isKnown(ann.id, `${cookie.slice(0, -2)}xx`)).toBe(false);
      clock.advance(rememberedMs - 1);
      expect(await devices.isKnown(ann.id, cookie)).toBe(true);
      clock.advance(1);
      expect(await devices.isKnown(ann.id, cookie)).toBe(false);
      expect(await devices.list(ann.id)).toEqual([]);
    });

    test("a person forgets one device, or all of their own", async () => {
      const devices = createKnownDevices(sql, clock);
      const [ann, bob] = [await addPerson(sql), await addPerson(sql)];
      const remember = (person: PersonId) => sql.transaction((trx) => devices.remember(trx, person, "Firefox"));
      const [first, second, third, ofBob] = [
        ...[await remember(ann.id), await remember(ann.id), await remember(ann.id)],
        await remember(bob.id),
      ];
      const [newest] = await devices.list(ann.id);
      if (newest === undefined) throw new Error("no device");
      expect(await devices.forget(bob.id, newest.id)).toBe(0);
      expect(await devices.forget(ann.id, newest.id)).toBe(1);
      expect((await devices.list(ann.id)).length).toBe(2);
      expect(await devices.forget(ann.id, "all")).toBe(2);
      for (const cookie of [first, second, third]) expect(await devices.isKnown(ann.id, cookie)).toBe(false);
      expect(await devices.isKnown(bob.id, ofBob)).toBe(true);
    });

    test("the oldest of too many is forgotten", async () => {
      const devices = createKnownDevices(sql, clock);
      const ann = await addPerson(sql);
      const cookies: string[] = [];
      for (let i = 0; i <= devicesMost; i++) {
        clock.advance(1);
        cookies.push(await sql.transaction((trx) => devices.remember(trx, ann.id, `Device ${i}`)));
      }
      expect((await devices.list(ann.id)).length).toBe(devicesMost);
      expect(await devices.isKnown(ann.id, cookies[0])).toBe(false);
      expect(await devices.isKnown(ann.id, cookies.at(-1))).toBe(true);
    });
  });
});
