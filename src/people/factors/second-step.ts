import { Problem } from "../../base/errors.ts";
import type { SessionCookie } from "../../http/session-cookie.ts";
import type { SignInMethod } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import type { FinishedSignIn, FinishSignIn } from "../sign-in/finish.ts";
import type { RefusedSignIns } from "../sign-in/refused-sign-ins.ts";
import type { SecondFactor } from "../sign-in/second-factor.ts";
import type { AskedFrom } from "../sign-in/sign-in.ts";
import type { PersonTokens } from "../tokens.ts";
import type { SecondFactorCodes } from "./codes.ts";
import { type KnownDevices, rememberedMs } from "./known-devices.ts";

/**
 * The second step of a sign-in. The first one leaves a challenge under a token; the browser brings the token back with a
 * code. A wrong code leaves the token as it is, so that people can try again; a right one uses both up, in the transaction
 * that starts the session.
 */
export interface SecondStep extends SecondFactor {
  answer(answer: SecondFactorAnswer): Promise<FinishedSignIn>;
}

export interface SecondFactorAnswer extends AskedFrom {
  readonly token: string;
  readonly code: string;
  /** Asks for no code with this browser for 30 days. */
  readonly remembersDevice: boolean;
}

export interface SecondStepSettings {
  readonly sql: Sql;
  readonly tokens: PersonTokens;
  readonly codes: SecondFactorCodes;
  readonly devices: KnownDevices;
  /** Of remembered devices. */
  readonly cookie: SessionCookie;
  readonly finish: FinishSignIn;
  readonly deviceOf: (request: Request) => string;
  readonly refused: RefusedSignIns;
}

/** As long as people need to find their phone. */
export const stepMs = 10 * 60_000;
const methods: readonly SignInMethod[] = ["password", "reset", "invitation", "setup", "sign-up"];

export function createSecondStep(settings: SecondStepSettings): SecondStep {
  const { sql, tokens, codes, devices, cookie, finish } = settings;

  async function requireFirst(token: string) {
    const found = await tokens.peek(sql.db, "second-factor", token);
    const method = methods.find((one) => one === found?.data.method);
    if (found?.person && method !== undefined) {
      return { person: found.person, method, isLasting: found.data.isLasting === true };
    }
    throw expired();
  }

  return {
    async isNeeded(person, request) {
      return person.hasTotp && !(await devices.isKnown(person.id, cookie.read(request.headers.get("cookie"))));
    },

    challenge: ({ id }, { method, isLasting }, before) =>
      sql.transaction(async (trx) => {
        await sql.forUpdate(trx.selectFrom("people").select("id").where("id", "=", id)).execute();
        await before?.(trx);
        const data = { method, isLasting };
        return await tokens.issue(trx, { kind: "second-factor", person: id, data, lifeMs: stepMs });
      }),

    async answer({ token, code, remembersDevice, request, address }) {
      const first = await requireFirst(token);
      const { person } = first;
      const signIn = codes.spend({ person, code, from: { request, address } }, async (use) => {
        let remembered: string | undefined;
        const finished = await finish({
          ...{ ...first, request },
          async before(trx) {
            if ((await tokens.use(trx, "second-factor", token)) === undefined) throw expired();
            await use(trx);
          },
          async after(trx) {
            if (remembersDevice) remembered = await devices.remember(trx, person, settings.deviceOf(request));
          },
        });
        if (remembered === undefined) return finished;
        return { ...finished, cookies: [...finished.cookies, cookie.write(remembered, rememberedMs / 1_000)] };
      });
      return await signIn.catch((error: unknown) => {
        const isWrong = error instanceof Problem && error.code === "wrong_code";
        if (isWrong) settings.refused.note({ person, method: first.method, reason: "code" });
        throw error;
      });
    },
  };
}

const expired = (): Problem =>
  new Problem("token_invalid", "This sign-in took too long or was completed before. Enter your password again.");
