import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link as RouterLink } from "@tanstack/react-router";
import ArrowLeft from "lucide-react/icons/arrow-left";
import Trash2 from "lucide-react/icons/trash-2";
import Undo2 from "lucide-react/icons/undo-2";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { TrashedLink } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { formatDateTime, formatRelative } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { linksTexts, trashTexts as t } from "../../texts/links.ts";
import { Button, buttonClass, IconButton } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { Empty, ErrorState, SkeletonRows } from "../../ui/states.tsx";
import { Cell, HeadCell, Row, Table, TableBody, TableHead } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { nameOf } from "./link-cells.tsx";
import { useIsPhone } from "./use-is-phone.ts";
import { useNow } from "./use-now.ts";

const dayMs = 86_400_000;
const pageRows = 50;

/** Deleted links: back, or gone for good. */
export function TrashPage() {
  const { slug, can } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const isPhone = useIsPhone();
  const now = useNow();
  const [asked, setAsked] = useState<TrashedLink | "all">();
  const trash = useInfiniteQuery({
    queryKey: ["/api/trash", slug],
    queryFn: ({ pageParam, signal }) =>
      call("GET /api/trash", { query: { limit: pageRows, ...(pageParam && { cursor: pageParam }) }, signal }),
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const links = trash.data?.pages.flatMap(({ items }) => items) ?? [];
  const reread = () => refresh(queries, "/api/trash", "/api/links", "/api/tags");

  const restore = useMutation({
    mutationFn: ({ id }: TrashedLink) => call("POST /api/trash/{id}/restore", { path: { id } }),
    onSuccess: (_, link) => toast({ message: t.restored(nameOf(link)) }),
    onError: (error) => toast({ message: messageOf(error), tone: "bad" }),
    onSettled: reread,
  });
  const erase = useMutation({
    mutationFn: async (what: TrashedLink | "all") => {
      if (what !== "all") {
        await call("DELETE /api/trash/{id}", { path: { id: what.id } });
        return t.erased(nameOf(what));
      }
      let deleted = 0;
      for (;;) {
        const part = await call("DELETE /api/trash");
        deleted += part.deleted;
        if (part.isEmpty || part.deleted === 0) return t.emptied(deleted);
      }
    },
    onSuccess: (message) => {
      toast({ message });
      setAsked(undefined);
    },
    onSettled: reread,
  });
  const close = () => {
    setAsked(undefined);
    erase.reset();
  };
  const canWrite = can("links:write");

  return (
    <>
      <PageHeader
        title={t.title}
        description={t.description}
        actions={
          <>
            <RouterLink
              to="/w/$workspace/links"
              params={{ workspace: slug }}
              search={{}}
              className={buttonClass({ variant: "quiet" })}
            >
              <ArrowLeft />
              {t.toLinks}
            </RouterLink>
            {canWrite && links.length > 0 && (
              <Button
                variant="danger"
                icon={Trash2}
                disabledReason={can("admin") ? undefined : t.adminOnly}
                onClick={() => setAsked("all")}
              >
                {t.emptyTrash}
              </Button>
            )}
          </>
        }
      />
      {trash.isPending ? (
        <SkeletonRows rows={8} label={t.loading} />
      ) : trash.isError ? (
        <ErrorState
          message={`${t.loadFailed} ${messageOf(trash.error)}`}
          retryLabel={linksTexts.tryAgain}
          onRetry={() => void trash.refetch()}
        />
      ) : links.length === 0 ? (
        <Card>
          <Empty icon={Trash2}>{t.empty}</Empty>
        </Card>
      ) : (
        <Table label={t.table} columns={isPhone ? [undefined, 92] : [undefined, undefined, 110, 92, 200]}>
          <TableHead>
            <HeadCell>{linksTexts.shortLink}</HeadCell>
            {!isPhone && <HeadCell>{linksTexts.destination}</HeadCell>}
            {!isPhone && <HeadCell align="end">{t.deleted}</HeadCell>}
            {!isPhone && <HeadCell align="end">{t.left}</HeadCell>}
            <HeadCell>
              <span className="sr-only">{linksTexts.more}</span>
            </HeadCell>
          </TableHead>
          <TableBody>
            {links.map((link) => (
              <Row key={link.id}>
                <Cell title={nameOf(link)} className={isPhone ? "h-[60px]" : ""}>
                  <span className="text-text-3">{link.domain}/</span>
                  {link.code}
                  {isPhone && (
                    <span className="block truncate text-12 text-text-3">
                      {t.daysLeft(daysLeft(link, now))} · {shownTarget(link)}
                    </span>
                  )}
                </Cell>
                {!isPhone && (
                  <Cell muted title={link.url ?? undefined}>
                    {shownTarget(link)}
                  </Cell>
                )}
                {!isPhone && (
                  <Cell align="end" muted>
                    <time dateTime={link.deletedAt} title={formatDateTime(link.deletedAt)}>
                      {formatRelative(link.deletedAt, now)}
                    </time>
                  </Cell>
                )}
                {!isPhone && (
                  <Cell align="end" muted title={formatDateTime(link.eraseAt)}>
                    {t.daysLeft(daysLeft(link, now))}
                  </Cell>
                )}
                <Cell className="overflow-visible">
                  {canWrite && (
                    <span className="flex justify-end gap-1">
                      {isPhone ? (
                        <IconButton
                          icon={Undo2}
                          label={t.restoreOf(nameOf(link))}
                          onClick={() => restore.mutate(link)}
                        />
                      ) : (
                        <Button
                          size="sm"
                          icon={Undo2}
                          aria-label={t.restoreOf(nameOf(link))}
                          loading={restore.isPending && restore.variables?.id === link.id}
                          onClick={() => restore.mutate(link)}
                        >
                          {t.restore}
                        </Button>
                      )}
                      <IconButton
                        icon={Trash2}
                        label={t.eraseOf(nameOf(link))}
                        size="sm"
                        onClick={() => setAsked(link)}
                      />
                    </span>
                  )}
                </Cell>
              </Row>
            ))}
          </TableBody>
        </Table>
      )}
      {trash.hasNextPage && (
        <p className="pt-3 text-center">
          <Button loading={trash.isFetchingNextPage} onClick={() => void trash.fetchNextPage()}>
            {linksTexts.next}
          </Button>
        </p>
      )}
      {asked !== undefined && (
        <ConfirmDialog
          open
          onClose={close}
          onConfirm={() => erase.mutate(asked)}
          title={asked === "all" ? t.emptyConfirm : t.eraseConfirm(nameOf(asked))}
          description={asked === "all" ? t.emptyWarning : t.eraseWarning}
          confirmLabel={asked === "all" ? t.emptyTrash : t.erase}
          cancelLabel={linksTexts.cancel}
          closeLabel={linksTexts.close}
          loading={erase.isPending}
          error={erase.isError ? messageOf(erase.error) : undefined}
        />
      )}
    </>
  );
}

const daysLeft = ({ eraseAt }: TrashedLink, now: number): number =>
  Math.max(0, Math.ceil((Date.parse(eraseAt) - now) / dayMs));

const shownTarget = ({ url, file }: TrashedLink): string =>
  file === null ? (url ?? "").replace(/^https?:\/\//, "") : linksTexts.file;
