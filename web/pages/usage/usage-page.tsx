import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { LimitUse, Usage } from "../../api/generated.ts";
import { listQuery } from "../../api/queries.ts";
import {
  formatBytes,
  formatDateTime,
  formatDay,
  formatNumber,
  formatRelative,
  formatRoundPercent,
} from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { usageTexts as t } from "../../texts/usage.ts";
import { Card, CardTitle } from "../../ui/card.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Page, PageHeader } from "../../ui/page.tsx";
import { ShortAddress } from "../../ui/short-address.tsx";
import { Empty, ErrorState, Skeleton } from "../../ui/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { shortly } from "../edit/link-form.ts";

const refetchMs = 30_000;

/** Every limit of the workspace: used, reserved, limit, when it resets, and when it will be full at this pace. */
export function UsagePage() {
  const { slug } = useWorkspace();
  const usage = useQuery({ ...listQuery(slug, "GET /api/usage"), refetchInterval: refetchMs });
  const { data: workspace } = useQuery(listQuery(slug, "GET /api/workspace"));
  return (
    <Page>
      <PageHeader title={t.title} description={workspace && t.description(workspace.plan)} />
      {usage.isError && !usage.data ? (
        <ErrorState
          message={`${t.couldNotLoad} ${messageOf(usage.error)}`}
          retryLabel={commonTexts.tryAgain}
          retrying={usage.isFetching}
          onRetry={() => void usage.refetch()}
        />
      ) : usage.data ? (
        <>
          <div className="mb-4 grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
            {usage.data.limits.map((use) => (
              <LimitCard key={use.name} use={use} />
            ))}
          </div>
          <Card>
            <CardTitle>{t.linksTitle}</CardTitle>
            {usage.data.hitsPerLinkPerMonth.length === 0 ? (
              <Empty small>{t.noLinks}</Empty>
            ) : (
              <ul>
                {usage.data.hitsPerLinkPerMonth.map((use) => (
                  <LinkLine key={use.link} use={use} />
                ))}
              </ul>
            )}
          </Card>
        </>
      ) : (
        <UsageWaiting />
      )}
    </Page>
  );
}

function UsageWaiting() {
  return (
    <div role="status" className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
      <span className="sr-only">{commonTexts.loading}</span>
      {["links", "storage", "emails", "calls", "hits"].map((name) => (
        <Card key={name} padded>
          <Skeleton className="w-32" />
          <Skeleton className="mt-1 mb-2.5 h-[30px] w-40" />
          <Skeleton className="mb-[42px] h-2" />
        </Card>
      ))}
    </div>
  );
}

const nameOf = (name: string): string => (t.limits as Readonly<Record<string, string>>)[name] ?? name;
const formatOf = (name: string) => (name === "storageBytes" ? formatBytes : formatNumber);

function LimitCard({ use }: { readonly use: LimitUse }) {
  const { name, used, held, limit, resetsAt, spentAt, state } = use;
  const format = formatOf(name);
  return (
    <Card padded>
      <h2 className="text-12 text-text-2">{nameOf(name)}</h2>
      <p className="num mt-1 mb-2.5 flex items-baseline gap-1.5">
        <span className="text-24 font-semibold tracking-[-.012em]">{used === null ? "–" : format(used)}</span>
        <span className="text-text-2">{limit === null ? t.noLimit : t.of(format(limit))}</span>
        {used !== null && limit !== null && limit > 0 && (
          <span className="ml-auto text-12 text-text-3">{t.share(formatRoundPercent(used / limit))}</span>
        )}
      </p>
      {used !== null && limit !== null && (
        <Meter
          label={nameOf(name)}
          used={used}
          limit={limit}
          {...(held ? { forecast: used + held } : {})}
          valueText={commonTexts.ofLimit(format(used), format(limit))}
        />
      )}
      <div className="mt-2.5 grid gap-0.5 text-12 text-text-3">
        {state === "unavailable" && <p>{t.unavailable}</p>}
        {state === "not_counted" && <p>{t.notCounted}</p>}
        {held !== null && held > 0 && <p>{t.held(format(held))}</p>}
        {used !== null && limit !== null && used >= limit ? (
          <p className="text-bad">{t.full}</p>
        ) : (
          spentAt && <p className="text-warn">{t.fullAt(formatDay(spentAt))}</p>
        )}
        {resetsAt && <p title={formatDateTime(resetsAt)}>{t.resets(formatRelative(resetsAt))}</p>}
      </div>
    </Card>
  );
}

function LinkLine({ use }: { readonly use: Usage["hitsPerLinkPerMonth"][number] }) {
  const { slug } = useWorkspace();
  const { used, limit, spentAt } = use;
  if (used === null || limit === null) return null;
  return (
    <li className="border-t border-line">
      <Link
        to="/w/$workspace/links/$link"
        params={{ workspace: slug, link: use.link }}
        search={{}}
        className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 px-3.5 py-2.5 hover:bg-hover sm:grid-cols-[minmax(0,14rem)_minmax(0,1fr)_12rem]"
      >
        <span className="min-w-0 font-medium" title={use.shortUrl}>
          <ShortAddress domain={use.domain} code={use.code} />
        </span>
        <span className="max-sm:order-last max-sm:col-span-2">
          <Meter
            label={t.openLink(shortly(use.shortUrl))}
            used={used}
            limit={limit}
            valueText={t.hits(formatNumber(used), limit)}
          />
        </span>
        <span className="num text-right text-12 text-text-2">
          {t.hits(formatNumber(used), limit)}
          {spentAt && used < limit && <span className="block text-warn">{t.fullAt(formatDay(spentAt))}</span>}
        </span>
      </Link>
    </li>
  );
}
