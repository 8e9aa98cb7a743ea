import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import KeyRound from "lucide-react/icons/key-round";
import Plus from "lucide-react/icons/plus";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { ApiKey } from "../../api/generated.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { formatDate, formatDateTime, formatRelative } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { keyTexts as t } from "../../texts/keys.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Status } from "../../ui/chip.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Page, PageHeader } from "../../ui/page.tsx";
import { Empty, ErrorState, SkeletonRows } from "../../ui/states.tsx";
import { Cell, HeadCell, PhoneLine, Row, Table, TableBody, TableHead } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { SettingsTabs } from "../settings/settings-tabs.tsx";
import { CreateKey } from "./create-key.tsx";

export function KeysPage() {
  const { slug } = useWorkspace();
  const [isCreating, setIsCreating] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey>();
  const keys = useQuery(listQuery(slug, "GET /api/keys", { limit: 100 }));
  const create = (
    <Button icon={Plus} onClick={() => setIsCreating(true)}>
      {t.create}
    </Button>
  );
  const items = keys.data?.items;
  return (
    <Page>
      <SettingsTabs />
      <PageHeader
        title={t.title}
        description={t.description}
        actions={
          <>
            <a href="/docs" target="_blank" rel="noreferrer" className={buttonClass({ variant: "quiet" })}>
              {t.documentation}
            </a>
            {items?.length !== 0 && create}
          </>
        }
      />
      {keys.isError && items === undefined ? (
        <ErrorState
          message={`${t.couldNotLoad} ${messageOf(keys.error)}`}
          retryLabel={commonTexts.tryAgain}
          retrying={keys.isFetching}
          onRetry={() => void keys.refetch()}
        />
      ) : items === undefined ? (
        <SkeletonRows rows={4} label={commonTexts.loading} />
      ) : items.length === 0 ? (
        <Card>
          <Empty icon={KeyRound} action={create}>
            {t.none}
          </Empty>
        </Card>
      ) : (
        <Table
          label={t.title}
          minWidthPx={760}
          columns={[undefined, { wide: undefined }, { wide: 190 }, { wide: 110 }, { wide: 130 }, 90]}
        >
          <TableHead>
            <HeadCell>{t.keyColumn}</HeadCell>
            <HeadCell wide>{t.scopesColumn}</HeadCell>
            <HeadCell wide>{t.createdColumn}</HeadCell>
            <HeadCell wide>{t.usedColumn}</HeadCell>
            <HeadCell wide>{t.stateColumn}</HeadCell>
            <HeadCell>
              <span className="sr-only">{t.revoke}</span>
            </HeadCell>
          </TableHead>
          <TableBody>
            {items.map((key) => (
              <KeyRow key={key.id} apiKey={key} onRevoke={() => setRevoking(key)} />
            ))}
          </TableBody>
        </Table>
      )}
      {isCreating && <CreateKey onClose={() => setIsCreating(false)} />}
      {revoking && <RevokeKey apiKey={revoking} onClose={() => setRevoking(undefined)} />}
    </Page>
  );
}

function KeyRow({ apiKey, onRevoke }: { readonly apiKey: ApiKey; readonly onRevoke: () => void }) {
  const { name, hint, scopes, createdAt, createdBy, lastUsedAt, expiresAt, revokedAt } = apiKey;
  const may = scopes.map((scope) => t.scopes[scope]).join(", ");
  const maker = createdBy ? t.by(createdBy.name) : t.byCommand;
  const isExpired = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  const state = revokedAt ? (
    <Status tone="quiet">{t.revoked}</Status>
  ) : isExpired ? (
    <Status tone="quiet">{t.expired}</Status>
  ) : (
    <Status tone="ok">{expiresAt ? t.expiresOn(formatDate(expiresAt)) : t.active}</Status>
  );
  return (
    <Row>
      <Cell title={name}>
        <span className="font-medium">{name}</span> <code className="font-mono text-12 text-text-3">{hint}</code>
        <PhoneLine>{may}</PhoneLine>
        <PhoneLine>{state}</PhoneLine>
      </Cell>
      <Cell wide muted title={may}>
        {may}
      </Cell>
      <Cell wide muted title={`${formatDateTime(createdAt)} ${maker}`}>
        {formatDate(createdAt)} <span className="text-text-3">{maker}</span>
      </Cell>
      <Cell wide muted title={lastUsedAt ? formatDateTime(lastUsedAt) : undefined}>
        {lastUsedAt ? formatRelative(lastUsedAt) : commonTexts.never}
      </Cell>
      <Cell wide>{state}</Cell>
      <Cell align="end">
        {!revokedAt && (
          <Button size="sm" variant="danger" onClick={onRevoke} aria-label={`${t.revoke}: ${name}`}>
            {t.revoke}
          </Button>
        )}
      </Cell>
    </Row>
  );
}

function RevokeKey({ apiKey: { id, name }, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const revoke = useMutation({
    mutationFn: () => call("DELETE /api/keys/{id}", { path: { id } }),
    async onSuccess() {
      toast({ message: t.revokedDone(name) });
      onClose();
      await refresh(queries, "/api/keys");
    },
  });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      onConfirm={() => revoke.mutate()}
      title={t.revokeTitle(name)}
      description={t.revokeText}
      confirmLabel={t.revoke}
      cancelLabel={commonTexts.cancel}
      closeLabel={commonTexts.close}
      loading={revoke.isPending}
      error={revoke.error && messageOf(revoke.error)}
    />
  );
}
