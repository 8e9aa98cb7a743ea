import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { ClickReport } from "../../api/generated.ts";
import { commonTexts } from "../../texts/common.ts";
import { reportTexts } from "../../texts/report.ts";
import { Card, CardTitle } from "../../ui/card.tsx";
import { Empty, Skeleton } from "../../ui/states.tsx";
import { Segmented } from "../../ui/tabs.tsx";
import { AllValues } from "./all-values.tsx";
import { defaultName, type NameOf, topRows } from "./bar-rows.ts";
import { Bars } from "./bars.tsx";
import { isChosen } from "./filters.ts";
import { Loaded } from "./loaded.tsx";
import type { Dimension, Subject } from "./report-query.ts";
import type { ReportControls } from "./report-state.ts";

const t = reportTexts.cards;
const rowsMost = 5;

export interface BreakdownTab {
  readonly dimension: Dimension;
  readonly label: string;
  readonly nameOf?: NameOf;
}

interface BreakdownCardProps {
  readonly title: string;
  readonly subject: Subject;
  readonly controls: ReportControls;
  readonly query: UseQueryResult<ClickReport>;
  /** One of these at a time. */
  readonly tabs: readonly BreakdownTab[];
  /** Before the tabs: another way to look at it. */
  readonly actions?: ReactNode;
  /** Over the bars of the first tab: a map. */
  readonly above?: ((report: ClickReport) => ReactNode) | undefined;
}

/** What clicks have in common, as bars that filter. Parts add up to the total. */
export function BreakdownCard(props: BreakdownCardProps) {
  const { title, subject, controls, query, tabs, actions, above } = props;
  const [chosen, setChosen] = useState<string>();
  const [isAll, setAll] = useState(false);
  const tab = (above ? undefined : tabs.find(({ dimension }) => dimension === chosen)) ?? tabs[0];
  if (tab === undefined) return null;
  const { dimension, nameOf = defaultName(dimension) } = tab;
  return (
    <Card aria-label={title}>
      <CardTitle
        className="flex-wrap gap-y-0 [&>h2]:flex-none"
        actions={
          <>
            {actions}
            {tabs.length > 1 && !above && (
              <Segmented
                look="text"
                label={t.view(title)}
                value={dimension}
                onValueChange={setChosen}
                options={tabs.map((one) => ({ value: one.dimension, label: one.label }))}
              />
            )}
          </>
        }
      >
        {title}
      </CardTitle>
      <Loaded query={query} failed={t.couldNotLoad(title)} waiting={<BarsWaiting />}>
        {(report) => {
          const found = report.breakdowns[dimension];
          const rows = found ? topRows(found, nameOf, rowsMost) : [];
          if (rows.length === 0) return <Empty small>{t.empty}</Empty>;
          return (
            <>
              {above?.(report)}
              <Bars
                rows={rows}
                total={report.totals.clicks}
                isChosen={(value) => isChosen(controls.filters, dimension, value)}
                onToggle={(value, exclude) => controls.toggle(dimension, value, exclude)}
                onOther={() => setAll(true)}
              />
            </>
          );
        }}
      </Loaded>
      {isAll && (
        <AllValues
          title={tabs.length > 1 ? `${title}: ${tab.label}` : title}
          {...{ subject, controls, dimension, nameOf }}
          onClose={() => setAll(false)}
        />
      )}
    </Card>
  );
}

export function BarsWaiting() {
  return (
    <div role="status" className="grid gap-0.5 px-2 pb-2">
      <span className="sr-only">{commonTexts.loading}</span>
      {[90, 70, 55, 40, 30].map((width) => (
        <div key={width} className="flex h-7 items-center max-sm:h-11">
          <span className="block h-full" style={{ width: `${width * 0.7}%` }}>
            <Skeleton className="h-full" />
          </span>
        </div>
      ))}
    </div>
  );
}
