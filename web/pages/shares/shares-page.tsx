import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import Share2 from "lucide-react/icons/share-2";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { StatsShare } from "../../api/generated.ts";
import { linkQuery, listQuery, refresh } from "../../api/queries.ts";
import { formatDate } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { shareTexts as t } from "../../texts/shares.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Page, PageHeader } from "../../ui/page.tsx";
import { Empty, ErrorState, SkeletonRows } from "../../ui/states.tsx";
import { Cell, HeadCell, PhoneLine, Row, Table, TableBody, TableHead } from "../../ui/table.tsx";
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
          <Empty
            icon={Share2}
            action={
              <Link to="/w/$workspace/links" params={{ workspace: slug }} search={{}} className={buttonClass()}>
                {t.toLinks}
              </Link>
            }
          >
            {t.none}
          </Empty>
        </Card>
      ) : (
        <Table
          label={t.title}
          minWidthPx={720}
          columns={[undefined, { wide: 200 }, { wide: 90 }, { wide: 120 }, { wide: 120 }, 120]}
        >
          <TableHead>
            <HeadCell>{t.name}</HeadCell>
            <HeadCell wide>{t.filters}</HeadCell>
            <HeadCell wide>{t.password}</HeadCell>
            <HeadCell wide>{t.expires}</HeadCell>
            <HeadCell wide>{t.created}</HeadCell>
            <HeadCell>
              <span className="sr-only">{commonTexts.more}</span>
            </HeadCell>
          </TableHead>
          <TableBody>
            {items.map((share) => (
              <ShareRow key={share.id} share={share} onStop={() => setStopping(share)} />
            ))}
          </TableBody>
        </Table>
      )}
      {stopping && <StopSharing share={stopping} onClose={() => setStopping(undefined)} />}
    </Page>
  );
}

function ShareRow({ share, onStop }: { readonly share: StatsShare; readonly onStop: () => void }) {
  const name = useName(share);
  const covers = t.covers(share.days);
  return (
    <Row>
      <Cell title={share.url}>
        <span className="flex min-w-0 items-center gap-1">
          <a
            href={share.url}
            target="_blank"
            rel="noreferrer"
            className="touch flex min-w-0 rounded-1 text-accent-text hover:underline"
          >
            <span className="truncate">{name}</span>
          </a>
          <span className="flex-none text-12 text-text-3 max-sm:hidden">{covers}</span>
          <CopyButton text={share.url} label={t.copy(name)} copiedLabel={commonTexts.copied} />
        </span>
        <PhoneLine>
          {[covers, share.password && t.password, ...share.filters]
            .filter((one) => typeof one === "string")
            .join(" · ")}
        </PhoneLine>
      </Cell>
      <Cell wide muted title={share.filters.join(", ")}>
        {share.filters.length === 0 ? t.noFilters : share.filters.join(", ")}
      </Cell>
      <Cell wide muted>
        {share.password ? commonTexts.yes : commonTexts.no}
      </Cell>
      <Cell wide muted>
        {share.expiresAt ? formatDate(share.expiresAt) : commonTexts.never}
      </Cell>
      <Cell wide muted>
        {formatDate(share.createdAt)}
      </Cell>
      <Cell align="end">
        <Button size="sm" variant="danger" onClick={onStop} aria-label={`${t.stop}: ${name}`}>
          {t.stop}
        </Button>
      </Cell>
    </Row>
  );
}

/** Its title, else what it is about: a tag, or the address of a link. */
function useName({ title, tag, link }: StatsShare): string {
  const { slug } = useWorkspace();
  const isAsked = title === null && link !== null;
  const { data, isError } = useQuery({ ...linkQuery(slug, link ?? ""), enabled: isAsked, staleTime: 60_000 });
  if (title !== null) return title;
  if (tag !== null) return t.tagged(tag);
  return data ? `${data.domain}/${data.code}` : isError ? t.deletedLink : commonTexts.loading;
}

function StopSharing({ share, onClose }: { readonly share: StatsShare; readonly onClose: () => void }) {
  const name = useName(share);
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
      title={t.stopTitle(name)}
      description={t.stopText}
      confirmLabel={t.stop}
      cancelLabel={commonTexts.cancel}
      closeLabel={commonTexts.close}
      loading={stop.isPending}
      error={stop.error && messageOf(stop.error)}
    />
  );
}
