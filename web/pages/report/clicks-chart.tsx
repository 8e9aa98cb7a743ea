import ZoomOut from "lucide-react/icons/zoom-out";
import type { Annotation } from "../../api/generated.ts";
import { TimeChart } from "../../charts/time-chart.tsx";
import { formatDay, formatNumber } from "../../format.ts";
import { instantOf } from "../../instants.ts";
import { reportTexts } from "../../texts/report.ts";
import { Button } from "../../ui/button.tsx";
import { cx } from "../../ui/class-names.ts";
import { Segmented } from "../../ui/tabs.tsx";
import { changeText } from "./change-text.ts";
import { comparedOf } from "./compared.ts";
import {
  calendarMs,
  daysOf,
  fittingIntervals,
  momentText,
  rangeText,
  type Span,
  shortMoment,
  tickText,
} from "./moments.ts";
import { NumberTable } from "./number-table.tsx";
import { dateIn } from "./periods.ts";
import type { Report } from "./report-query.ts";
import type { ReportControls } from "./report-state.ts";

const t = reportTexts.chart;

interface ClicksChartProps {
  readonly report: Report;
  readonly controls: ReportControls;
  readonly annotations: readonly Annotation[];
  /** Beside the interval: adds a note. */
  readonly actions?: React.ReactNode;
}

/** Clicks over time, with the compared period, as a chart or as a table. Dragging zooms in. */
export function ClicksChart({ report, controls, annotations, actions }: ClicksChartProps) {
  const { interval, zone, readAt } = report;
  const { previous, hasChange } = comparedOf(report);
  const spanMs = calendarMs(report);
  const happened = report.series.filter(({ start }) => Date.parse(start) <= readAt);
  const points = happened.map(({ start, clicks }) => ({ start, value: clicks }));
  const before = previous?.series.map(({ start, clicks }) => ({ start, value: clicks }));
  const isOtherYear = controls.compare === "year";
  const startOf = (at: string) => happened.findLast(({ start }) => Date.parse(start) <= Date.parse(at))?.start;

  function zoom(from: string, last: string): void {
    const next = report.series.find(({ start }) => instantOf(start) > instantOf(last))?.start ?? report.to;
    const isByTime = interval === "quarter" || interval === "hour";
    const end = Math.min(Date.parse(next), readAt);
    controls.set(
      isByTime
        ? { period: undefined, from, to: new Date(end).toISOString(), interval: undefined }
        : {
            period: undefined,
            from: dateIn(zone, Date.parse(from)),
            to: end >= readAt ? undefined : dateIn(zone, end - 1),
            interval: undefined,
          },
    );
  }

  return (
    <div className="border-t border-line px-4 pt-3.5 pb-2.5">
      <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1.5 text-12 text-text-2">
        <Key kind="solid">{t.clicks}</Key>
        {previous && <Key kind="dashed">{previousName(controls, report)}</Key>}
        <span className="ml-auto flex flex-wrap items-center gap-x-3 gap-y-1 max-sm:-mx-2 max-sm:grow max-sm:justify-between max-sm:gap-x-1">
          {controls.preset === undefined && (
            <Button
              size="sm"
              variant="quiet"
              icon={ZoomOut}
              onClick={() => controls.set({ from: undefined, to: undefined, interval: undefined })}
            >
              {t.zoomOut}
            </Button>
          )}
          {actions}
          <Segmented
            label={t.interval}
            // What was chosen, before its numbers are there.
            value={controls.interval ?? interval}
            onValueChange={(next) => controls.set({ interval: next })}
            options={fittingIntervals(spanMs, controls.interval ?? interval).map((one) => ({
              value: one,
              label: t.intervals[one],
            }))}
          />
          <Segmented
            label={t.view}
            value={controls.isTable ? "table" : "chart"}
            onValueChange={(next) => controls.set({ view: next === "table" ? "table" : undefined })}
            options={[
              { value: "chart", label: t.asChart },
              { value: "table", label: t.asTable },
            ]}
          />
        </span>
      </div>
      {controls.isTable ? (
        <NumberTable report={report} compare={controls.compare} endsNow={controls.endsNow} />
      ) : (
        <TimeChart
          points={points}
          previous={before}
          isUnfinished={controls.endsNow || Date.parse(report.to) > readAt}
          annotations={annotations.flatMap(({ id, at, text }) => {
            const start = startOf(at);
            return start === undefined ? [] : [{ id, start, text: t.noteAt(formatDay(at, zone), text) }];
          })}
          onZoom={zoom}
          format={{
            value: formatNumber,
            tick: tickText(interval, zone, spanMs, readAt),
            moment: momentText(interval, zone),
            previousMoment: shortMoment(interval, zone, isOtherYear),
            change: (now, then) => (hasChange ? (changeText(now, then) ?? t.noneBefore) : t.changeUnknown),
          }}
          texts={{
            label: t.label(rangeText(report, controls.endsNow)),
            value: t.clicks,
            change: t.change,
            moment: t.moment,
            previous: previousName(controls, report),
            unfinished: t.soFar,
            hint: t.zoomHint,
            empty: controls.filters.length > 0 ? t.emptyFiltered : t.empty,
            more: t.notes,
          }}
        />
      )}
    </div>
  );
}

/** As the API compares: a period that begins with a day moves by days, another one by its length. */
export function previousName({ compare }: Pick<ReportControls, "compare">, report: Span): string {
  if (compare === undefined) return "";
  const days = daysOf(report);
  return compare === "previous" && days !== undefined ? t.previousDays(days) : t.previous[compare];
}

function Key({ kind, children }: { readonly kind: "solid" | "dashed"; readonly children: string }) {
  return (
    <span className="inline-flex items-center gap-[7px]">
      <span
        aria-hidden
        className={cx(
          "w-3 shrink-0",
          kind === "solid" ? "border-t-2 border-chart-1" : "border-t-[1.5px] border-dashed border-chart-prev",
        )}
      />
      {children}
    </span>
  );
}
