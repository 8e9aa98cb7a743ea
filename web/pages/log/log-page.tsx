import { keepPreviousData, useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import Download from "lucide-react/icons/download";
import { addressOf, call, type QueryOf } from "../../api/call.ts";
import type { HistoryPage } from "../../api/generated.ts";
import { messageOf } from "../../forms.ts";
import { oneOf } from "../../search.ts";
import { commonTexts } from "../../texts/common.ts";
import { logTexts as t } from "../../texts/log.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { DateField } from "../../ui/date-field.tsx";
import { Field } from "../../ui/field.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { Page, PageHeader } from "../../ui/page.tsx";
import { Select } from "../../ui/select.tsx";
import { Empty, ErrorState, SkeletonRows } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { download } from "../report/download.ts";
import { SettingsTabs } from "../settings/settings-tabs.tsx";
import { LogEntry } from "./log-entry.tsx";

type LogQuery = NonNullable<QueryOf<"GET /api/history">>;

const pageSize = 50;

/** The log of the workspace. Its filters are in the address. */
export function LogPage() {
  const { slug } = useWorkspace();
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const toast = useToast();
  const filter: LogQuery = {
    ...(oneOf(search.by) && { actorKind: oneOf(search.by) as NonNullable<LogQuery["actorKind"]> }),
    ...(oneOf(search.what) && { subjectKind: oneOf(search.what) }),
    ...(oneOf(search.subject) && { subject: oneOf(search.subject) }),
    ...(oneOf(search.since) && { since: toIso(oneOf(search.since)) }),
    ...(oneOf(search.until) && { until: toIso(oneOf(search.until)) }),
  };
  const log = useInfiniteQuery({
    queryKey: ["/api/history", slug, filter],
    queryFn: async ({ pageParam, signal }) =>
      (await call("GET /api/history", {
        query: { ...filter, limit: pageSize, ...(pageParam !== "" && { cursor: pageParam }) },
        signal,
      })) as unknown as HistoryPage,
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
  });
  const saving = useMutation({
    mutationFn: (format: "csv" | "jsonl") =>
      download(addressOf("GET /api/history", { query: { ...filter, format } }), `log.${format}`),
    onError: (error) => toast({ message: messageOf(error), tone: "bad" }),
  });
  const show = (next: Record<string, string>) =>
    void navigate({ to: ".", search: (before: object) => ({ ...before, ...next }), replace: true });
  const entries = log.data?.pages.flatMap(({ items }) => items);
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <Page>
      <SettingsTabs />
      <PageHeader
        title={t.title}
        description={t.description}
        actions={
          <Menu
            trigger={
              <Button icon={Download} loading={saving.isPending}>
                {t.export}
              </Button>
            }
          >
            <MenuItem onSelect={() => saving.mutate("csv")}>{t.exportCsv}</MenuItem>
            <MenuItem onSelect={() => saving.mutate("jsonl")}>{t.exportJson}</MenuItem>
          </Menu>
        }
      />
      <div className="mb-4 grid grid-cols-2 items-end gap-3 lg:grid-cols-4">
        <Field label={t.by}>
          <Select
            value={oneOf(search.by) ?? ""}
            onValueChange={(by) => show({ by })}
            options={[{ value: "", label: t.byAll }, ...optionsOf(t.kinds)]}
          />
        </Field>
        <Field label={t.what}>
          <Select
            value={oneOf(search.what) ?? ""}
            onValueChange={(what) => show({ what })}
            options={[{ value: "", label: t.whatAll }, ...optionsOf(t.subjects)]}
          />
        </Field>
        <Field label={t.since}>
          <DateField value={oneOf(search.since) ?? ""} onValueChange={(since) => show({ since })} />
        </Field>
        <Field label={t.until}>
          <DateField value={oneOf(search.until) ?? ""} onValueChange={(until) => show({ until })} />
        </Field>
      </div>
      <Card>
        {log.isError && entries === undefined ? (
          <ErrorState
            message={`${t.couldNotLoad} ${messageOf(log.error)}`}
            retryLabel={commonTexts.tryAgain}
            retrying={log.isFetching}
            onRetry={() => void log.refetch()}
          />
        ) : entries === undefined ? (
          <SkeletonRows rows={8} label={commonTexts.loading} />
        ) : entries.length === 0 ? (
          <Empty
            action={
              isFiltered && (
                <Button onClick={() => void navigate({ to: ".", search: {}, replace: true })}>{t.clear}</Button>
              )
            }
          >
            {t.none}
          </Empty>
        ) : (
          <ol>
            {entries.map((entry, place) => (
              <LogEntry key={entry.id ?? `${entry.at} ${place}`} entry={entry} />
            ))}
          </ol>
        )}
      </Card>
      {log.hasNextPage && (
        <p className="mt-4 text-center">
          <Button loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
            {commonTexts.showMore}
          </Button>
        </p>
      )}
    </Page>
  );
}

const optionsOf = (names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }));

/** Undefined if it is no time: the address may say anything. */
function toIso(text: string | undefined): string | undefined {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
