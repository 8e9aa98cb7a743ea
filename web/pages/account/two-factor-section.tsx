import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { Person, TotpOffer } from "../../api/generated.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { formatNumber } from "../../format.ts";
import { problemText } from "../../problem-text.ts";
import { useProof } from "../../proof.tsx";
import { accountTexts, twoFactorTexts as t } from "../../texts/account.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { Badge, Status } from "../../ui/chip.tsx";
import { Notice } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useAttempt } from "../../use-attempt.ts";
import { RecoveryCodesDialog } from "./recovery-codes-dialog.tsx";
import { TotpDialog } from "./totp-dialog.tsx";

const fewCodes = 3;

export function TwoFactorSection({ person }: { readonly person: Person }) {
  const queries = useQueryClient();
  const toast = useToast();
  const withProof = useProof();
  const attempt = useAttempt();
  const { data: factor } = useQuery(listQuery("", "GET /api/account/totp"));
  const [offer, setOffer] = useState<TotpOffer>();
  const [codes, setCodes] = useState<readonly string[]>();
  const isOn = person.hasSecondFactor;
  const changed = () => refresh(queries, "/api/account");

  const begin = () =>
    void attempt.run(async () => {
      await withProof(async (body) => setOffer(await call("POST /api/account/totp", { body })));
    });
  const renew = () =>
    void attempt.run(async () => {
      const work = async (body: object) =>
        setCodes((await call("POST /api/account/recovery-codes", { body })).recoveryCodes);
      if (await withProof(work, { lead: t.newCodesLead })) await changed();
    });
  const remove = () =>
    void attempt.run(async () => {
      const work = async (body: object) => void (await call("POST /api/account/totp/remove", { body }));
      if (!(await withProof(work, { accepts: ["password", "code"], lead: t.removeLead }))) return;
      toast({ message: t.removed });
      await changed();
    });

  return (
    <Section
      title={
        <span className="flex items-center gap-2">
          {accountTexts.twoFactor}
          <Badge tone={isOn ? "ok" : "quiet"}>{isOn ? t.on : t.off}</Badge>
        </span>
      }
      description={t.text}
      actions={
        isOn ? (
          <>
            <Button variant="danger" onClick={remove}>
              {t.remove}
            </Button>
            <Button onClick={renew}>{t.newCodes}</Button>
          </>
        ) : (
          <Button loading={attempt.isBusy} onClick={begin}>
            {t.setUp}
          </Button>
        )
      }
    >
      {attempt.error !== undefined && <Notice tone="bad">{problemText(attempt.error, attempt.waitSeconds)}</Notice>}
      {isOn && factor && (
        <p>
          <Status tone={factor.recoveryCodesLeft <= fewCodes ? "warn" : "ok"}>
            {t.codesLeft(factor.recoveryCodesLeft, formatNumber(factor.recoveryCodesLeft))}
          </Status>
        </p>
      )}
      {offer && (
        <TotpDialog
          offer={offer}
          onClose={() => setOffer(undefined)}
          onDone={(made) => {
            setOffer(undefined);
            setCodes(made);
            void changed();
          }}
        />
      )}
      {codes && <RecoveryCodesDialog codes={codes} email={person.email} onClose={() => setCodes(undefined)} />}
    </Section>
  );
}
