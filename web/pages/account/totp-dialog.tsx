import { lazy, Suspense, useRef } from "react";
import { ApiError, call } from "../../api/call.ts";
import type { TotpOffer } from "../../api/generated.ts";
import { accountTexts, twoFactorTexts as t } from "../../texts/account.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { useForm } from "../../use-form.ts";
import { FormProblem } from "./form-problem.tsx";

const QrOfText = lazy(() => import("./qr-of-text.tsx").then((module) => ({ default: module.QrOfText })));

interface TotpDialogProps {
  readonly offer: TotpOffer;
  readonly onClose: () => void;
  readonly onDone: (recoveryCodes: readonly string[]) => void;
}

/** Scan, then prove with a code that the app has the key. Until then nothing has changed. */
export function TotpDialog({ offer, onClose, onDone }: TotpDialogProps) {
  const field = useRef<HTMLInputElement>(null);
  const form = useForm({ code: "" }, { code: (value) => (value.trim() === "" ? t.required : undefined) });
  const isWrong = form.problem instanceof ApiError && form.problem.code === "wrong_code";
  const send = form.submit(async ({ code }) => {
    const { recoveryCodes } = await call("POST /api/account/totp/confirm", { body: { code: code.trim() } });
    onDone(recoveryCodes);
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={t.dialogTitle}
      description={t.scan}
      closeLabel={accountTexts.close}
      initialFocus={field}
    >
      <form onSubmit={send} noValidate className="grid gap-4 pb-4">
        <div className="grid min-h-48 place-items-center">
          <Suspense>
            <QrOfText text={offer.url} label={t.qr} />
          </Suspense>
        </div>
        <div className="grid gap-1.5">
          <p className="text-12 text-text-3">{t.orType}</p>
          <CodeBlock code={offer.secret} label={t.secret} copyLabel={t.copySecret} copiedLabel={accountTexts.copied} />
        </div>
        {!isWrong && <FormProblem form={form} />}
        <Field
          label={t.code}
          error={form.error("code") ?? (isWrong && form.problem instanceof ApiError ? form.problem.message : undefined)}
        >
          <Input
            ref={field}
            inputMode="numeric"
            autoComplete="one-time-code"
            spellCheck={false}
            mono
            maxLength={7}
            {...form.input("code")}
          />
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{accountTexts.cancel}</Button>
          <Button type="submit" variant="primary" loading={form.attempt.isBusy}>
            {t.confirm}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
