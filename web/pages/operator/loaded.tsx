import type { UseQueryResult } from "@tanstack/react-query";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { operatorTexts as t } from "../../texts/operator.ts";
import { ErrorState, SkeletonRows } from "../../ui/states.tsx";

/** What was read, or why not, with a way to try again. */
export function Loaded<Data>({
  query,
  children,
}: {
  readonly query: UseQueryResult<Data>;
  readonly children: (data: Data) => React.ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (!query.isError) return <SkeletonRows rows={6} label={commonTexts.loading} />;
  return (
    <ErrorState
      message={`${t.couldNotLoad} ${messageOf(query.error)}`}
      retryLabel={commonTexts.tryAgain}
      retrying={query.isFetching}
      onRetry={() => void query.refetch()}
    />
  );
}
