import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Click } from "../../api/generated.ts";
import { formatDateTime, formatNumber } from "../../format.ts";
import { commonTexts } from "../../texts/common.ts";
import { reportTexts } from "../../texts/report.ts";
import { Button } from "../../ui/button.tsx";
import { Card, CardTitle } from "../../ui/card.tsx";
import { cx } from "../../ui/class-names.ts";
import { Empty, SkeletonRows } from "../../ui/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { deviceOf, isCounted, kindOf, placeOf, sourceOf } from "./click-words.ts";
import { Loaded } from "./loaded.tsx";
import { clickParams, readClicks, type Subject } from "./report-query.ts";
import type { ReportControls } from "./report-state.ts";
import { valueName } from "./values.ts";

const t = reportTexts.clicks;
const pageSize = 10;

interface ClickListProps {
  readonly subject: Subject;
  readonly controls: ReportControls;
}

/** Single clicks of the period, page by page. */
export function ClickList({ subject, controls }: ClickListProps) {
  const { slug } = useWorkspace();
  const { range, zone } = controls;
  const about = subject.kind === "link" ? subject.id : "";
  const asked = JSON.stringify([about, clickParams(controls)]);
  const [cursors, setCursors] = useState<readonly string[]>([]);
  // Another period or filter begins with its first page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `asked` stands for all of them
  useEffect(() => setCursors([]), [asked]);
  const cursor = cursors.at(-1);
  const query = useQuery({
    queryKey: ["/api/clicks", slug, asked, cursor],
    queryFn: ({ signal }) => readClicks(subject, controls, { limit: pageSize, cursor }, signal),
    enabled: range !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 15_000,
  });
  const next = query.data?.nextCursor;
  return (
    <Card aria-label={t.title}>
      <CardTitle
        actions={
          (cursors.length > 0 || next) && (
            <>
              <span className="num text-12">{t.page(formatNumber(cursors.length + 1))}</span>
              <Button
                size="sm"
                variant="quiet"
                disabled={cursors.length === 0}
                onClick={() => setCursors(cursors.slice(0, -1))}
              >
                {t.newer}
              </Button>
              <Button
                size="sm"
                variant="quiet"
                disabled={!next || query.isPlaceholderData}
                onClick={() => next && setCursors([...cursors, next])}
              >
                {t.older}
              </Button>
            </>
          )
        }
      >
        {t.title}
      </CardTitle>
      <Loaded query={query} failed={t.couldNotLoad} waiting={<SkeletonRows rows={5} label={commonTexts.loading} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty small>{next ? t.emptyPage : t.empty}</Empty>
          ) : (
            <ul>
              {items.map((click, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two clicks may be alike in everything
                <ClickLine key={`${click.at} ${place}`} click={click} zone={zone} withLink={subject.kind !== "link"} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}

interface ClickLineProps {
  readonly click: Click;
  readonly zone: string | undefined;
  readonly withLink: boolean;
}

function ClickLine({ click, zone, withLink }: ClickLineProps) {
  const counts = isCounted(click);
  const device = deviceOf(click);
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 border-t border-line px-3.5 py-1.5 sm:grid-cols-[130px_minmax(0,1.2fr)_minmax(0,1.2fr)_minmax(0,1fr)]">
      <time dateTime={click.at} className="num text-text-3 max-sm:order-2 max-sm:text-12 max-sm:leading-5">
        {formatDateTime(click.at, zone)}
      </time>
      <span className={cx("truncate max-sm:order-1", !counts && "text-text-3")}>
        {counts ? placeOf(click) : kindOf(click)}
        {withLink && <span className="text-text-3"> · {`${click.link.domain}/${click.link.code}`}</span>}
      </span>
      <span className="truncate text-text-2 max-sm:order-3 max-sm:text-12" title={device}>
        {device}
      </span>
      <span className="truncate text-text-2 max-sm:order-4 max-sm:text-right max-sm:text-12">
        {counts ? sourceOf(click) : valueName("reason", click.reason)}
        {click.weight > 1 && <span className="text-text-3"> · {t.stands(click.weight)}</span>}
      </span>
    </li>
  );
}
