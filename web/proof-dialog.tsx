import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { type FormEvent, useRef, useState } from "react";
import { ApiError, call } from "./api/call.ts";
import type { Account, Proof } from "./api/generated.ts";
import { accountQuery, listQuery } from "./api/queries.ts";
import { browserHasPasskeys, passkeyTrouble, rememberPasskeyUse, signWithCredential } from "./passkeys.ts";
import { problemText } from "./problem-text.ts";
import type { AskedProof, ProofWay } from "./proof.tsx";
import { proofTexts as t } from "./texts/proof.ts";
import { Button, buttonClass } from "./ui/button.tsx";
import { Dialog } from "./ui/dialog.tsx";
import { Field } from "./ui/field.tsx";
import { Input, PasswordInput } from "./ui/input.tsx";
import { Notice } from "./ui/states.tsx";
import { useAttempt } from "./use-attempt.ts";

type Way = "password" | "code" | "passkey";
const allWays: readonly ProofWay[] = ["password", "code", "fresh"];

function useWays(account: Account | undefined, accepts: readonly ProofWay[]): readonly Way[] {
  const { data: options } = useQuery(listQuery("", "GET /api/auth/options"));
  const { data: passkeys } = useQuery(listQuery("", "GET /api/account/passkeys"));
  const hasPasskey = options?.passkeys === true && browserHasPasskeys() && (passkeys?.items.length ?? 0) > 0;
  return [
    // For a fresh sign-in, too.
    ...(accepts.some((way) => way !== "code") && account?.person.hasPassword ? (["password"] as const) : []),
    ...(accepts.includes("code") && account?.person.hasSecondFactor ? (["code"] as const) : []),
    ...(accepts.includes("fresh") && hasPasskey ? (["passkey"] as const) : []),
  ];
}

interface ProofDialogProps {
  readonly asked: AskedProof;
  readonly onEnd: (settle: (asked: AskedProof) => void) => void;
}

export function ProofDialog({ asked: { work, accepts = allWays, lead = t.lead }, onEnd }: ProofDialogProps) {
  const { data: account } = useQuery(accountQuery);
  const { publicHref } = useLocation();
  const ways = useWays(account, accepts);
  const [chosen, setChosen] = useState<Way>();
  const [isEmpty, setEmpty] = useState(false);
  /** Of a new sign-in that needs a code too. */
  const [step, setStep] = useState<string>();
  const attempt = useAttempt();
  const field = useRef<HTMLInputElement>(null);
  const way = step === undefined ? (chosen ?? ways[0]) : "code";
  const fieldError = isEmpty ? t.required : errorAtField(attempt.error);

  /** Errors about the proof stay here; everything else is the caller's. */
  async function tryWith(proof: Proof): Promise<void> {
    try {
      await work(proof);
    } catch (error) {
      if (isAboutProof(error)) throw error;
      return onEnd(({ settle }) => settle.reject(error));
    }
    onEnd(({ settle }) => settle.resolve(true));
  }

  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    if (attempt.waitSeconds > 0) return;
    const value = field.current?.value ?? "";
    setEmpty(value === "");
    if (value === "") {
      field.current?.focus();
      return;
    }
    void attempt.run(() => prove(value)).then((isDone) => !isDone && field.current?.select());
  }

  async function prove(value: string): Promise<void> {
    if (step !== undefined) {
      await call("POST /api/auth/second-factor", { body: { token: step, code: value.trim() } });
      return await tryWith({});
    }
    if (way === "code") return await tryWith({ code: value.trim() });
    if (accepts.includes("password")) return await tryWith({ password: value });
    const email = account?.person.email ?? "";
    const body = { email, password: value, remember: isLasting(account) };
    const { result, token } = await call("POST /api/auth/sign-in", { body });
    if (result === "second_factor") setStep(token ?? "");
    else await tryWith({});
  }

  const withPasskey = () =>
    void attempt.run(async () => {
      const credential = await signWithCredential(await call("POST /api/auth/passkey/begin"));
      rememberPasskeyUse();
      await call("POST /api/auth/passkey/finish", { body: { credential, remember: isLasting(account) } });
      const { person } = await call("GET /api/account");
      if (person.id !== account?.person.id) return location.reload();
      await tryWith({});
    });

  const others = step === undefined ? ways.filter((one) => one !== way) : [];
  const names = { password: t.byPassword, code: t.byCode, passkey: t.byPasskey };
  return (
    <Dialog
      open
      onClose={() => onEnd(({ settle }) => settle.resolve(false))}
      title={t.title}
      description={ways.length === 0 ? t.again : lead}
      closeLabel={t.close}
      initialFocus={field}
    >
      <form onSubmit={send} noValidate className="grid gap-4 pb-4">
        {attempt.error !== undefined && fieldError === undefined && (
          <Notice tone="bad">{textOf(attempt.error, attempt.waitSeconds)}</Notice>
        )}
        {way === "password" && (
          <Field label={t.password} error={fieldError}>
            <PasswordInput key="password" ref={field} showLabel={t.show} hideLabel={t.hide} name="password" />
          </Field>
        )}
        {way === "code" && (
          <Field label={t.code} error={fieldError}>
            <Input
              key="code"
              ref={field}
              name="code"
              autoComplete="one-time-code"
              spellCheck={false}
              autoCapitalize="off"
              mono
            />
          </Field>
        )}
        <div className="flex flex-wrap justify-end gap-2">
          {others.map((one) => (
            <Button
              key={one}
              variant="quiet"
              onClick={() => {
                attempt.clear();
                setEmpty(false);
                setChosen(one);
                if (one === "passkey") withPasskey();
              }}
            >
              {names[one]}
            </Button>
          ))}
          <span className="flex-1" />
          {way === undefined ? (
            <a
              href={`/app/sign-in?returnTo=${encodeURIComponent(publicHref)}`}
              className={buttonClass({ variant: "primary" })}
            >
              {t.signInAgain}
            </a>
          ) : way === "passkey" ? (
            <Button variant="primary" loading={attempt.isBusy} onClick={withPasskey}>
              {t.byPasskey}
            </Button>
          ) : (
            <Button type="submit" variant="primary" loading={attempt.isBusy}>
              {t.submit}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

const wrong = new Set(["wrong_password", "wrong_code", "sign_in_failed"]);
const proofCodes = new Set([...wrong, "proof_required", "too_many_attempts", "offline", "busy"]);

const isAboutProof = (error: unknown): boolean => error instanceof ApiError && proofCodes.has(error.code);

function errorAtField(error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return wrong.has(error.code) ? error.message : undefined;
}

function textOf(error: unknown, waitSeconds: number): string {
  const trouble = passkeyTrouble(error);
  if (trouble !== undefined) return trouble === "cancelled" ? t.passkeyCancelled : t.passkeyFailed;
  return problemText(error, waitSeconds);
}

const weekMs = 7 * 86_400_000;

/** A session that stays when the browser is closed is followed by one that does. */
function isLasting(account: Account | undefined): boolean {
  if (account === undefined) return false;
  const { createdAt, expiresAt } = account.session;
  return new Date(expiresAt).getTime() - new Date(createdAt).getTime() > weekMs;
}
