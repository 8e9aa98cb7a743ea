import Bot from "lucide-react/icons/bot";
import Info from "lucide-react/icons/info";
import type { ReactNode } from "react";
import type { ClickReport } from "../../api/generated.ts";
import { formatDecimal, formatNumber, formatPercent } from "../../format.ts";
import { reportTexts } from "../../texts/report.ts";
import { Popover } from "../../ui/popover.tsx";
import { Stat, StatRow } from "../../ui/stat.tsx";
import { Skeleton } from "../../ui/states.tsx";
import { changeText } from "./change-text.ts";
import { type Compared, comparedOf } from "./compared.ts";
import { notCountedOf } from "./not-counted.ts";
import { Reasons } from "./reasons.tsx";
import type { ReportControls } from "./report-state.ts";

const t = reportTexts.figures;

interface FiguresProps {
  readonly report: ClickReport;
  readonly controls: ReportControls;
  /** Where the reader can exclude their own visits. */
  readonly excludeAddress: string;
}

/** The key figures of a report. What is not counted is apart: it is in none of the others. */
export function Figures({ report, controls, excludeAddress }: FiguresProps) {
  const { totals } = report;
  const compared = comparedOf(report);
  const before = compared.previous?.totals;
  const isOfPeople = report.traffic === "people";
  const sampled = report.sampled && reportTexts.honest.plusMinus(formatPercent(report.sampled.error));
  const { others } = notCountedOf(report);
  return (
    <>
      <StatRow>
        <Stat
          label={
            <>
              {isOfPeople ? t.clicks : `${t.clicks}: ${reportTexts.traffics[report.traffic]}`}
              {sampled && <Inexact>{sampled}</Inexact>}
            </>
          }
          value={formatNumber(totals.clicks)}
          {...changeOf(totals.clicks, before?.clicks, formatNumber, compared)}
        />
        <Stat
          label={
            <>
              {t.visitors}
              {(report.visitorsCapped || sampled) && (
                <Inexact>{report.visitorsCapped ? reportTexts.honest.atLeast : sampled}</Inexact>
              )}
              <AboutVisitors isFiltered={report.itemised !== null} />
            </>
          }
          value={formatNumber(totals.visitors)}
          {...changeOf(totals.visitors, before?.visitors, formatNumber, compared)}
        />
        <Stat
          label={t.perVisitor}
          value={isOfPeople ? (ratio(totals)?.formatted ?? "–") : "–"}
          {...(isOfPeople && compared.hasChange
            ? changeOf(ratio(totals)?.value, before && ratio(before)?.value, formatDecimal, compared)
            : {})}
        />
        <Stat
          apart
          icon={Bot}
          label={t.bots}
          value={<Reasons report={report} controls={controls} excludeAddress={excludeAddress} />}
          remark={isOfPeople ? t.notInOthers : t.inClicks}
        />
      </StatRow>
      {others.length > 0 && (
        <p className="num border-t border-line bg-sunken px-4 py-2 text-12 text-text-2">
          {(isOfPeople ? t.alsoNotCounted : t.alsoInClicks)(others.join(", "))}
        </p>
      )}
    </>
  );
}

/** Beside the name of a number that is not exact; why is below the chart. */
function Inexact({ children }: { readonly children: ReactNode }) {
  return <span className="text-text-3">{children}</span>;
}

function ratio({ clicks, visitors }: ClickReport["totals"]) {
  if (visitors === 0) return undefined;
  const value = clicks / visitors;
  return { value, formatted: formatDecimal(value) };
}

function changeOf(
  now: number | undefined,
  before: number | undefined,
  format: (value: number) => string,
  { isLower, hasChange }: Compared,
) {
  if (now === undefined || before === undefined) return isLower ? { remark: t.unknownBefore } : {};
  if (!hasChange) return { remark: (isLower ? t.fromAtLeast : t.from)(format(before)) };
  if (before === 0) return { remark: now === 0 ? t.from(format(0)) : t.noneBefore };
  const direction: "up" | "down" = now > before ? "up" : "down";
  return { change: changeText(now, before), direction, remark: t.from(format(before)) };
}

function AboutVisitors({ isFiltered }: { readonly isFiltered: boolean }) {
  return (
    <Popover
      label={t.aboutVisitors}
      className="w-72"
      trigger={
        <button
          type="button"
          aria-label={t.aboutVisitors}
          className="touch relative grid size-4 place-items-center rounded-full text-text-3 hover:text-text sm:after:absolute sm:after:-inset-1"
        >
          <Info className="size-3.5" />
        </button>
      }
    >
      <div className="grid gap-2 text-12 text-text-2">
        <p>{t.visitorsExplained}</p>
        <p>{t.visitorsSum}</p>
        {isFiltered && <p>{t.visitorsFiltered}</p>}
      </div>
    </Popover>
  );
}

/** As high as the figures, so that nothing moves when they arrive. */
export function FiguresWaiting() {
  return (
    <StatRow>
      {[t.clicks, t.visitors, t.perVisitor, t.bots].map((label, place) => (
        <Stat
          key={label}
          label={label}
          apart={place === 3}
          icon={place === 3 ? Bot : undefined}
          value={
            <span className="flex h-[30px] items-center">
              <Skeleton className="h-6 w-24" />
            </span>
          }
          remark={<Skeleton className="h-4 w-20" />}
        />
      ))}
    </StatRow>
  );
}
