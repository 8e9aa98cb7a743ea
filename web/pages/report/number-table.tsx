import { formatNumber } from "../../format.ts";
import { reportTexts } from "../../texts/report.ts";
import { Cell, HeadCell, Row, Table, TableBody, TableHead } from "../../ui/table.tsx";
import { changeText } from "./change-text.ts";
import { comparedOf } from "./compared.ts";
import { momentText, rangeText, shortMoment } from "./moments.ts";
import type { Report } from "./report-query.ts";
import type { Comparison } from "./report-state.ts";

const t = reportTexts.chart;

interface NumberTableProps {
  readonly report: Report;
  readonly compare: Comparison | undefined;
  readonly endsNow: boolean;
}

/** The numbers of the chart, the newest first. */
export function NumberTable({ report, compare, endsNow }: NumberTableProps) {
  const { interval, zone, readAt } = report;
  const { previous, hasChange } = comparedOf(report);
  const moment = momentText(interval, zone);
  const short = shortMoment(interval, zone, compare === "year");
  const rows = report.series.map((point, place) => ({ ...point, before: previous?.series[place] }));
  const happened = rows.filter(({ start }) => Date.parse(start) <= readAt).toReversed();
  const isGoingOn = endsNow || Date.parse(report.to) > readAt;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: so that the keyboard can scroll it
    <section tabIndex={0} aria-label={t.asTable} className="max-h-[248px] overflow-y-auto">
      <Table label={t.label(rangeText(report, endsNow))} columns={[undefined, 90, 110, 90]}>
        <TableHead>
          <HeadCell>{t.moment}</HeadCell>
          <HeadCell align="end">{t.clicks}</HeadCell>
          <HeadCell align="end">{compare ? t.previous[compare] : t.visitors}</HeadCell>
          <HeadCell align="end">{compare ? t.change : ""}</HeadCell>
        </TableHead>
        <TableBody>
          {happened.map(({ start, clicks, visitors, before }, place) => (
            <Row key={start}>
              <Cell title={moment(start)}>
                {moment(start)}
                {place === 0 && isGoingOn && <span className="text-text-3"> {t.soFar}</span>}
              </Cell>
              <Cell align="end">{formatNumber(clicks)}</Cell>
              <Cell align="end" muted title={before && short(before.start)}>
                {compare ? before && formatNumber(before.clicks) : formatNumber(visitors)}
              </Cell>
              <Cell align="end" muted>
                {before && ((hasChange && changeText(clicks, before.clicks)) || "–")}
              </Cell>
            </Row>
          ))}
        </TableBody>
      </Table>
    </section>
  );
}
