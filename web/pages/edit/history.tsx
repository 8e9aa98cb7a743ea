import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import type { HistoryEntry, Link } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { formatDateTime, formatRelative } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { editTexts, historyTexts as t } from "../../texts/edit.ts";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/chip.tsx";
import { ErrorState, SkeletonRows } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { fieldName, sayValue } from "./field-values.ts";
import { putLink } from "./link-cache.ts";

/** Who changed what and when, and the way back to any version. */
export function History({ link }: { readonly link: Link }) {
  const { slug, can } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const { data, isPending, isError, isFetching, refetch, fetchNextPage, hasNextPage } = useInfiniteQuery({
    queryKey: ["/api/links/history", slug, link.id],
    queryFn: ({ pageParam, signal }) =>
      call("GET /api/links/{id}/history", {
        path: { id: link.id },
        query: { limit: 25, ...(pageParam !== "" && { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const goTo = async (version: number, back: number, message: string) => {
    try {
      const changed = await call("POST /api/links/{id}/undo", { path: { id: link.id }, body: { version } });
      putLink(queries, link.id, () => changed);
      toast({
        message,
        key: `undo ${link.id}`,
        action: { label: editTexts.undo, onAction: () => void goTo(back, changed.version, t.undone) },
      });
    } catch (error) {
      toast({ message: messageOf(error), tone: "bad" });
    }
    await refresh(queries, "/api/links", "/api/tags");
  };
  if (isPending) return <SkeletonRows rows={4} label={t.loading} />;
  if (isError) {
    return (
      <ErrorState
        message={t.failed}
        retryLabel={editTexts.tryAgain}
        retrying={isFetching}
        onRetry={() => void refetch()}
      />
    );
  }
  const entries = data.pages.flatMap(({ items }) => items);
  return (
    <div className="grid gap-3">
      <ol className="grid">
        {entries.map((entry, at) => (
          <Entry
            key={entry.id ?? "created"}
            entry={entry}
            isCurrent={at === 0}
            goneTo={entries.find(({ version }) => version !== null && version === entry.after?.undoTo)?.at}
            onRestore={
              can("links:write") && at > 0 && entry.version !== null
                ? () => void goTo(entry.version ?? 0, link.version, t.restored)
                : undefined
            }
          />
        ))}
      </ol>
      {hasNextPage && (
        <div>
          <Button size="sm" loading={isFetching} onClick={() => void fetchNextPage()}>
            {t.more}
          </Button>
        </div>
      )}
    </div>
  );
}

interface EntryProps {
  readonly entry: HistoryEntry;
  readonly isCurrent: boolean;
  /** When the version was made that this change went back to. */
  readonly goneTo: string | undefined;
  readonly onRestore: (() => void) | undefined;
}

function Entry({ entry, isCurrent, goneTo, onRestore }: EntryProps) {
  // To which version somebody went back is no field of the link.
  const fields = Object.keys({ ...entry.before, ...entry.after }).filter((field) => field !== "undoTo");
  const did =
    goneTo === undefined
      ? (t.actions[entry.action as keyof typeof t.actions] ?? t.changed)
      : t.wentBackTo(formatDateTime(goneTo));
  return (
    <li className="relative grid gap-2 border-l border-line-strong pb-5 pl-4 last:border-transparent">
      <span aria-hidden="true" className="absolute top-[7px] -left-[4px] size-[7px] rounded-full bg-line-control" />
      <div className="flex min-h-[26px] flex-wrap items-center gap-x-2 gap-y-1">
        <p className="min-w-0">
          <span className="font-medium">{nameOf(entry)}</span> <span className="text-text-2">{did}</span>{" "}
          <time dateTime={entry.at} title={formatDateTime(entry.at)} className="whitespace-nowrap text-text-3">
            {formatRelative(entry.at)}
          </time>
        </p>
        <span className="ml-auto flex-none">
          {isCurrent && <Badge tone="quiet">{t.current}</Badge>}
          {onRestore && (
            <Button size="sm" onClick={onRestore}>
              {t.restore}
            </Button>
          )}
        </span>
      </div>
      {fields.length > 0 && (
        <dl className="grid gap-1.5">
          {fields.map((field) => (
            <div key={field} className="grid gap-x-3 sm:grid-cols-[120px_minmax(0,1fr)]">
              <dt className="text-12 leading-5 text-text-3">{fieldName(field)}</dt>
              <dd className="min-w-0">
                {entry.after && <Lines lines={sayValue(field, entry.after[field])} />}
                {entry.before && (
                  <del className="block text-12 text-text-3 no-underline">
                    <span>{t.toWas} </span>
                    <Lines lines={sayValue(field, entry.before[field])} />
                  </del>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
}

function Lines({ lines }: { readonly lines: readonly string[] }) {
  return lines.map((line, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines of a text
    <span key={at} className={lines.length > 1 ? "block break-words" : "break-words"}>
      {line}
    </span>
  ));
}

function nameOf({ by }: HistoryEntry): string {
  if (by.kind === "person") return by.name ?? t.by.gone;
  if (by.kind === "key") return by.name === null ? t.by.key : `${t.by.key} ${by.name}`;
  return t.by[by.kind];
}
