import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { messageOf } from "../../forms.ts";
import { accountTexts as t } from "../../texts/account.ts";
import { ErrorState, Loading, Skeleton } from "../../ui/states.tsx";

interface AccountListProps<Item> {
  readonly label: string;
  readonly query: Pick<
    UseQueryResult<{ readonly items: readonly Item[] }>,
    "data" | "error" | "refetch" | "isFetching"
  >;
  readonly empty: string;
  /** One `AccountRow` for each. */
  readonly children: (item: Item) => ReactNode;
}

/** The rows of a section, with its own error: the rest of the page works. */
export function AccountList<Item>({ label, query, empty, children }: AccountListProps<Item>) {
  const { data, error, refetch, isFetching } = query;
  if (data === undefined && error) {
    return (
      <ErrorState
        small
        message={messageOf(error)}
        retryLabel={t.tryAgain}
        onRetry={() => void refetch()}
        retrying={isFetching}
      />
    );
  }
  if (data === undefined) {
    return (
      <div className="py-3">
        <Loading label={t.loading} className="sr-only" />
        <Skeleton className="w-2/3" />
      </div>
    );
  }
  if (data.items.length === 0) return <p className="text-text-3">{empty}</p>;
  return (
    <ul aria-label={label} className="-my-2.5">
      {data.items.map(children)}
    </ul>
  );
}

interface AccountRowProps {
  readonly mark?: ReactNode;
  readonly title: ReactNode;
  readonly badge?: ReactNode;
  readonly text?: ReactNode;
  readonly actions?: ReactNode;
}

export function AccountRow({ mark, title, badge, text, actions }: AccountRowProps) {
  return (
    <li className="flex items-center gap-3 border-b border-line py-2.5 last:border-b-0 max-sm:flex-wrap">
      {mark && <span className="flex-none text-text-3">{mark}</span>}
      <div className="min-w-0 flex-1 max-sm:basis-2/5">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="min-w-0 font-medium">{title}</span>
          {badge}
        </p>
        {text && <p className="text-12 text-text-3">{text}</p>}
      </div>
      {actions && <div className="ml-auto flex flex-none items-center gap-1">{actions}</div>}
    </li>
  );
}
