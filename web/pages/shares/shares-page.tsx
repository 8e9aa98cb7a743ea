import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { StatsShare } from "../../api/generated.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { formatDate, formatNumber } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { shareTexts as t } from "../../texts/shares.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Page, PageHeader } from "../../ui/page.tsx";
import { Empty, ErrorState, SkeletonRows } from "../../ui/states.tsx";
import { Cell, HeadCell, Row, Table, TableBody, TableHead } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { SettingsTabs } from "../settings/settings-tabs.tsx";

export function SharesPage() {
  const { slug } = useWorkspace();
  const [stopping, setStopping] = useState<StatsShare>();
  const shares = useQuery(listQuery(slug, "GET /api/stats/shares", { limit: 100 }));
  const items = shares.data?.items;
  return (
    <Page>
      <SettingsTabs />
      <PageHeader title={t.title} description={t.description} />
      {shares.isError && items === undefined ? (
        <ErrorState
          message={`${t.couldNotLoad} ${messageOf(shares.error)}`}
          retryLabel={commonTexts.tryAgain}
          retrying={shares.isFetching}
          onRetry={() => void shares.refetch()}
        />
      ) : items === undefined ? (
        <SkeletonRows rows={4} label={commonTexts.loading} />
      ) : items.length === 0 ? (
        <Card>
          <Empty>{t.none}</Empty>
        </Card>
      ) : (
        <Table label={t.title} minWidthPx={720} columns={[undefined, 200, 90, 120, 120, 140]}>
          <TableHead>
            <HeadCell>{t.name}</HeadCell>
            <HeadCell>{t.filters}</HeadCell>
            <HeadCell>{t.password}</HeadCell>
            <HeadCell>{t.expires}</HeadCell>
            <HeadCell>{t.created}</HeadCell>
            <HeadCell>
              <span className="sr-only">{commonTexts.more}</span>
            </HeadCell>
          </TableHead>
          <TableBody>
            {items.map((share) => (
              <Row key={share.id}>
                <Cell title={share.url}>
                  <span className="flex min-w-0 items-center gap-1">
                    <a
                      href={share.url}
                      target="_blank"
                      rel="noreferrer"
                      className="truncate text-accent-text hover:underline"
                    >
                      {nameOf(share)}
                    </a>
                    <span className="flex-none text-12 text-text-3">{t.covers(formatNumber(share.days))}</span>
                    <CopyButton text={share.url} label={t.copy(nameOf(share))} copiedLabel={commonTexts.copied} />
                  </span>
                </Cell>
                <Cell muted title={share.filters.join(", ")}>
                  {share.filters.length === 0 ? t.noFilters : share.filters.join(", ")}
                </Cell>
                <Cell muted>{share.password ? commonTexts.yes : commonTexts.no}</Cell>
                <Cell muted>{share.expiresAt ? formatDate(share.expiresAt) : commonTexts.never}</Cell>
                <Cell muted>{formatDate(share.createdAt)}</Cell>
                <Cell align="end">
                  <Button size="sm" variant="danger" onClick={() => setStopping(share)}>
                    {t.stop}
                  </Button>
                </Cell>
              </Row>
            ))}
          </TableBody>
        </Table>
      )}
      {stopping && <StopSharing share={stopping} onClose={() => setStopping(undefined)} />}
    </Page>
  );
}

const nameOf = ({ title, tag, link, id }: StatsShare): string => title ?? tag ?? link ?? id;

function StopSharing({ share, onClose }: { readonly share: StatsShare; readonly onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const stop = useMutation({
    mutationFn: () => call("DELETE /api/stats/shares/{id}", { path: { id: share.id } }),
    async onSuccess() {
      toast({ message: t.stopped });
      onClose();
      await refresh(queries, "/api/stats/shares");
    },
  });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      onConfirm={() => stop.mutate()}
      title={t.stopTitle(nameOf(share))}
      description={t.stopText}
      confirmLabel={t.stop}
      cancelLabel={commonTexts.cancel}
      closeLabel={commonTexts.close}
      loading={stop.isPending}
      error={stop.error && messageOf(stop.error)}
    />
  );
}
