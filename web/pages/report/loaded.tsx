import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError } from "../../api/call.ts";
import { formatClock, formatDateTime } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { reportTexts as t } from "../../texts/report.ts";
import { cx } from "../../ui/class-names.ts";
import { ErrorState } from "../../ui/states.tsx";

interface LoadedProps<Data> {
  readonly query: UseQueryResult<Data>;
  /** What failed: "Could not load countries." */
  readonly failed: string;
  /** Grey blocks of the final size. */
  readonly waiting: ReactNode;
  readonly small?: boolean;
  /** What was asked for can be refused: another try would not help, but this. */
  readonly onReset?: () => void;
  readonly children: (data: Data) => ReactNode;
}

/** A card that fails alone: its numbers, or why they are missing. Old numbers stay while new ones are read. */
export function Loaded<Data>({ query, failed, waiting, small = true, onReset, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (!query.isError) return waiting;
  const isRefused = query.error instanceof ApiError && query.error.status === 422;
  return (
    <ErrorState
      small={small}
      message={`${failed} ${messageOf(query.error)}`}
      retryLabel={isRefused && onReset ? t.reset : commonTexts.tryAgain}
      retrying={query.isFetching}
      onRetry={isRefused && onReset ? onReset : () => void query.refetch()}
    />
  );
}

/** Numbers are old after this, because they could not be read again. */
const oldMs = 600_000;

/** "As of 14:02" when the last attempt to read the numbers again failed. */
export function AsOf({ query }: { readonly query: UseQueryResult<unknown> }) {
  if (!query.isError || query.data === undefined) return null;
  const isOld = Date.now() - query.dataUpdatedAt > oldMs;
  return (
    <span
      title={`${t.honest.stale} ${formatDateTime(query.dataUpdatedAt)}`}
      className={cx("text-12", isOld ? "text-warn" : "text-text-3")}
    >
      {t.honest.asOf(formatClock(query.dataUpdatedAt))}
    </span>
  );
}
