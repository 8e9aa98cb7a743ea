import { useInfiniteQuery } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import type { HistoryPage } from "../../api/generated.ts";
import { commonTexts } from "../../texts/common.ts";
import { operatorTexts as t } from "../../texts/operator.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Empty, SkeletonRows } from "../../ui/states.tsx";
import { LogEntry } from "../log/log-entry.tsx";

const pageSize = 50;

/** What happened outside of workspaces: sign-ins and refusals, plans, reports. */
export function OperatorLog() {
  const log = useInfiniteQuery({
    queryKey: ["/api/operator/history"],
    queryFn: async ({ pageParam, signal }) =>
      (await call("GET /api/operator/history", {
        query: { limit: pageSize, ...(pageParam !== "" && { cursor: pageParam }) },
        signal,
      })) as unknown as HistoryPage,
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  const entries = log.data?.pages.flatMap(({ items }) => items);
  if (entries === undefined) return <SkeletonRows rows={8} label={commonTexts.loading} />;
  if (entries.length === 0) return <Empty>{t.nothing}</Empty>;
  return (
    <>
      <Card>
        <ol>
          {entries.map((entry, place) => (
            <LogEntry key={entry.id ?? `${entry.at} ${place}`} entry={entry} />
          ))}
        </ol>
      </Card>
      {log.hasNextPage && (
        <p className="mt-4 text-center">
          <Button loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
            {commonTexts.showMore}
          </Button>
        </p>
      )}
    </>
  );
}
