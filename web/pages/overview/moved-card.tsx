import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import TrendingDown from "lucide-react/icons/trending-down";
import TrendingUp from "lucide-react/icons/trending-up";
import { formatNumber } from "../../format.ts";
import { overviewTexts } from "../../texts/overview.ts";
import { Card, CardTitle } from "../../ui/card.tsx";
import { cx } from "../../ui/class-names.ts";
import { Empty } from "../../ui/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { BarsWaiting } from "../report/breakdown-card.tsx";
import { Loaded } from "../report/loaded.tsx";
import { dateIn, rangeOf } from "../report/periods.ts";
import { readReport, type Subject, useReportQuery } from "../report/report-query.ts";
import type { ReportState } from "../report/report-state.ts";
import { valueName } from "../report/values.ts";
import { type Mover, moversOf, reasonDimensions, reasonOf } from "./movers.ts";

const t = overviewTexts.moved;
const shownMost = 4;
const linksMost = 300;
const subject: Subject = { kind: "workspace" };

/** The last seven days against the seven before, whatever period the rest of the page shows. */
export function MovedCard({ zone }: { readonly zone: string | undefined }) {
  const range = zone === undefined ? undefined : rangeOf("7d", dateIn(zone, Date.now()));
  const state: ReportState = {
    ...{ preset: undefined, range, zone, workspaceZone: zone, compare: "previous" as const, interval: "day" as const },
    ...{ traffic: "people" as const, filters: [], isTable: false, endsNow: true },
  };
  const asked = { breakdown: ["link"], limit: linksMost } as const;
  const now = useReportQuery(subject, state, { ...asked, compare: true });
  const previous = now.data?.previous;
  const stateBefore = { ...state, range: previous ? { from: previous.from, to: previous.to } : undefined };
  const before = useReportQuery(subject, stateBefore, asked);
  return (
    <Card aria-label={t.title}>
      <CardTitle actions={<span className="text-right text-12 max-sm:hidden">{t.about}</span>}>{t.title}</CardTitle>
      <Loaded query={now} failed={t.couldNotLoad} waiting={<BarsWaiting />}>
        {(report) => {
          const { up, down } = moversOf(report, before.data, shownMost);
          if (report.totals.clicks === 0 && (report.previous?.totals.clicks ?? 0) === 0)
            return <Empty small>{t.nothing}</Empty>;
          const periods = { state, stateBefore };
          return (
            <div className="grid pb-1 sm:grid-cols-2 sm:divide-x sm:divide-line">
              <Movers title={t.up} empty={t.nothingUp} movers={up} {...periods} />
              <Movers title={t.down} empty={t.nothingDown} movers={down} {...periods} />
            </div>
          );
        }}
      </Loaded>
    </Card>
  );
}

interface Periods {
  readonly state: ReportState;
  readonly stateBefore: ReportState;
}

interface MoversProps extends Periods {
  readonly title: string;
  readonly empty: string;
  readonly movers: readonly Mover[];
}

function Movers({ title, empty, movers, ...periods }: MoversProps) {
  return (
    <section aria-label={title} className="min-w-0">
      <h3 className="px-3.5 pb-1 text-12 text-text-3">{title}</h3>
      {movers.length === 0 ? (
        <p className="px-3.5 py-2 text-text-2">{empty}</p>
      ) : (
        <ul>
          {movers.map((mover) => (
            <MoverLine key={mover.id} mover={mover} {...periods} />
          ))}
        </ul>
      )}
    </section>
  );
}

function MoverLine({ mover, ...periods }: { readonly mover: Mover } & Periods) {
  const { slug } = useWorkspace();
  const { now, before } = mover;
  const isUp = now > before;
  const Arrow = isUp ? TrendingUp : TrendingDown;
  const why = useReason(mover, periods);
  return (
    <li className="border-t border-line">
      <Link
        to="/w/$workspace/links/$link"
        params={{ workspace: slug, link: mover.id }}
        search={{ period: "7d" }}
        className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 px-3.5 py-1.5 hover:bg-hover"
      >
        <span className="truncate" title={mover.name}>
          {mover.name}
        </span>
        <span className={cx("num inline-flex items-center gap-1 font-medium", isUp ? "text-ok" : "text-text-2")}>
          <Arrow className="size-3.5" />
          {isUp ? "+" : "−"}
          {formatNumber(Math.abs(now - before))}
        </span>
        <span className="col-span-2 truncate text-12 text-text-3">
          {t.change(formatNumber(before), now)}
          {why && ` · ${why}`}
        </span>
      </Link>
    </li>
  );
}

const keptMs = 600_000;

/** Two small reports on one link; the answer holds for minutes. */
function useReason(mover: Mover, { state, stateBefore }: Periods): string | undefined {
  const { slug } = useWorkspace();
  const { data } = useQuery({
    queryKey: ["/api/reasons", slug, mover.id, state.range],
    queryFn: async ({ signal }) => {
      const link: Subject = { kind: "link", id: mover.id };
      const asked = { breakdown: reasonDimensions, limit: 20 };
      const [now, before] = await Promise.all([
        readReport(link, state, asked, signal),
        readReport(link, stateBefore, asked, signal),
      ]);
      return reasonOf(mover, now, before) ?? null;
    },
    enabled: stateBefore.range !== undefined,
    staleTime: keptMs,
    retry: false,
  });
  if (data === undefined) return undefined;
  if (data === null) return t.spread;
  return t.mostly(valueName(data.dimension, data.value), formatNumber(data.before), formatNumber(data.now));
}
