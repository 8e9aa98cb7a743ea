import { useQuery, useQueryClient } from "@tanstack/react-query";
import Monitor from "lucide-react/icons/monitor";
import Smartphone from "lucide-react/icons/smartphone";
import { call } from "../../api/call.ts";
import type { RememberedDevice, Session } from "../../api/generated.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { formatDate, formatDateTime, formatNumber, formatRelative } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { accountTexts, sessionTexts as t } from "../../texts/account.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { Badge } from "../../ui/chip.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useAttempt } from "../../use-attempt.ts";
import { AccountList, AccountRow } from "./account-list.tsx";

export function SessionsSection() {
  const query = useQuery(listQuery("", "GET /api/account/sessions"));
  const change = useChange("/api/account/sessions");
  const hasOthers = query.data?.items.some(({ current }) => !current) ?? false;
  const end = (session: Session) =>
    change.run(async () => {
      await call("DELETE /api/account/sessions/{id}", { path: { id: session.id } });
      return t.ended;
    });
  const endOthers = () =>
    change.run(async () => {
      const { ended } = await call("DELETE /api/account/sessions");
      return t.endedOthers(ended, formatNumber(ended));
    });
  return (
    <Section
      title={accountTexts.sessions}
      description={t.text}
      actions={
        hasOthers && (
          <Button loading={change.isBusy} onClick={endOthers}>
            {t.endOthers}
          </Button>
        )
      }
    >
      <AccountList label={accountTexts.sessions} query={query} empty={t.text}>
        {(session: Session) => (
          <AccountRow
            key={session.id}
            mark={<DeviceIcon device={session.device} />}
            title={session.device}
            badge={session.current && <Badge tone="ok">{t.this}</Badge>}
            text={
              <>
                {t.by(methodName(session.method))},{" "}
                <span title={formatDateTime(session.lastUsedAt)}>{t.used(formatRelative(session.lastUsedAt))}</span>,{" "}
                <span title={formatDateTime(session.expiresAt)}>{t.ends(formatDate(session.expiresAt))}</span>
              </>
            }
            actions={
              !session.current && (
                <Button size="sm" variant="quiet" aria-label={t.endLabel(session.device)} onClick={() => end(session)}>
                  {t.end}
                </Button>
              )
            }
          />
        )}
      </AccountList>
    </Section>
  );
}

/** Browsers that skip the second factor. */
export function DevicesSection() {
  const query = useQuery(listQuery("", "GET /api/account/devices"));
  const change = useChange("/api/account/devices");
  const forget = (device: RememberedDevice) =>
    change.run(async () => {
      await call("DELETE /api/account/devices/{id}", { path: { id: device.id } });
      return t.forgotten;
    });
  const forgetAll = () =>
    change.run(async () => {
      await call("DELETE /api/account/devices");
      return t.noDevices;
    });
  return (
    <Section
      title={accountTexts.devices}
      description={t.devicesText}
      actions={
        (query.data?.items.length ?? 0) > 1 && (
          <Button loading={change.isBusy} onClick={forgetAll}>
            {t.forgetAll}
          </Button>
        )
      }
    >
      <AccountList label={accountTexts.devices} query={query} empty={t.noDevices}>
        {(device: RememberedDevice) => (
          <AccountRow
            key={device.id}
            mark={<DeviceIcon device={device.device} />}
            title={device.device}
            text={t.until(formatDate(device.expiresAt))}
            actions={
              <Button
                size="sm"
                variant="quiet"
                aria-label={t.forgetLabel(device.device)}
                onClick={() => forget(device)}
              >
                {t.forget}
              </Button>
            }
          />
        )}
      </AccountList>
    </Section>
  );
}

/** A change of a list that happens at once; the toast says what was done, or why not. */
function useChange(path: string) {
  const queries = useQueryClient();
  const toast = useToast();
  const attempt = useAttempt();
  return {
    isBusy: attempt.isBusy,
    run: (work: () => Promise<string>) =>
      void attempt.run(async () => {
        try {
          toast({ message: await work() });
        } catch (error) {
          toast({ message: messageOf(error), tone: "bad" });
        }
        await refresh(queries, path);
      }),
  };
}

function DeviceIcon({ device }: { readonly device: string }) {
  const Shape = /iOS|iPhone|iPad|Android/.test(device) ? Smartphone : Monitor;
  return <Shape />;
}

function methodName(method: string): string {
  const names: Readonly<Record<string, string>> = t.methods;
  return names[method] ?? method;
}
