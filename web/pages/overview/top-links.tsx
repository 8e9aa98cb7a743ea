import { Link } from "@tanstack/react-router";
import { formatNumber, formatPercent } from "../../format.ts";
import { overviewTexts } from "../../texts/overview.ts";
import { reportTexts } from "../../texts/report.ts";
import { Card, CardTitle } from "../../ui/card.tsx";
import { cx } from "../../ui/class-names.ts";
import { ShortAddress } from "../../ui/short-address.tsx";
import { Empty } from "../../ui/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { BarsWaiting } from "../report/breakdown-card.tsx";
import { changeText } from "../report/change-text.ts";
import { comparedOf } from "../report/compared.ts";
import { Loaded } from "../report/loaded.tsx";
import { useReportQuery } from "../report/report-query.ts";
import type { ReportControls } from "../report/report-state.ts";
import { type FoundLink, nameOfLink } from "./found-link.ts";

const t = overviewTexts.links;
const shownMost = 8;

/** The links with the most clicks of the period; each opens its own report. */
export function TopLinks({ controls }: { readonly controls: ReportControls }) {
  const { slug } = useWorkspace();
  const query = useReportQuery({ kind: "workspace" }, controls, {
    ...{ breakdown: ["link"], limit: shownMost, compare: true },
  });
  return (
    <Card aria-label={t.title}>
      <CardTitle
        actions={
          <Link
            to="/w/$workspace/links"
            params={{ workspace: slug }}
            search={{ sort: "clicks" }}
            className="touch rounded-1 text-12 hover:text-text"
          >
            {t.all}
          </Link>
        }
      >
        {t.title}
      </CardTitle>
      <Loaded query={query} failed={t.couldNotLoad} waiting={<BarsWaiting />}>
        {(report) => {
          const { breakdowns, totals } = report;
          const found = breakdowns.link;
          const { hasChange } = comparedOf(report);
          if (!found || found.values.length === 0) return <Empty small>{t.empty}</Empty>;
          const most = Math.max(1, ...found.values.map(({ clicks }) => clicks), found.other, found.notItemised);
          const rest = [
            { name: reportTexts.cards.otherPlain, clicks: found.other },
            { name: reportTexts.cards.notItemised, clicks: found.notItemised },
          ].filter(({ clicks }) => clicks > 0);
          return (
            <ul className="grid gap-0.5 px-2 pb-2">
              {found.values.map((value) => (
                <li key={value.value}>
                  <LinkBar
                    value={hasChange ? value : { ...value, previousClicks: null }}
                    width={value.clicks / most}
                    share={value.clicks / Math.max(1, totals.clicks)}
                  />
                </li>
              ))}
              {rest.map(({ name, clicks }) => (
                <li key={name} className={line}>
                  <Ground width={clicks / most} isRest />
                  <span className="relative truncate text-text-2">{name}</span>
                  <Numbers clicks={clicks} share={clicks / Math.max(1, totals.clicks)} />
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Card>
  );
}

const line =
  "group/bar relative grid h-7 w-full grid-cols-[minmax(0,1fr)_72px_56px_54px] items-center rounded-1 pr-1.5 pl-2 text-left max-sm:h-11 max-sm:grid-cols-[minmax(0,1fr)_60px_48px_50px]";

interface LinkBarProps {
  readonly value: FoundLink;
  readonly width: number;
  readonly share: number;
}

function LinkBar({ value, width, share }: LinkBarProps) {
  const { slug } = useWorkspace();
  const { link, clicks, previousClicks } = value;
  const name = nameOfLink(value);
  const content = (
    <>
      <Ground width={width} />
      <span className="relative flex min-w-0 gap-2">
        <span className="flex min-w-0" title={name}>
          {link && link.code !== null ? <ShortAddress domain={link.domain ?? ""} code={link.code} /> : name}
        </span>
        {link?.id === null && <span className="flex-none text-12 leading-5 text-text-3">{t.deleted}</span>}
        {link?.title && <span className="min-w-0 flex-1 truncate text-text-3 max-sm:hidden">{link.title}</span>}
      </span>
      <Numbers
        clicks={clicks}
        share={share}
        change={previousClicks ? changeText(clicks, previousClicks) : undefined}
        isUp={clicks > (previousClicks ?? 0)}
      />
    </>
  );
  if (!link?.id) return <div className={line}>{content}</div>;
  return (
    <Link
      to="/w/$workspace/links/$link"
      params={{ workspace: slug, link: link.id }}
      search={{}}
      className={cx(line, "hover:bg-hover")}
    >
      {content}
    </Link>
  );
}

function Ground({ width, isRest = false }: { readonly width: number; readonly isRest?: boolean }) {
  return (
    <span aria-hidden className="absolute inset-y-0 right-[188px] left-0 max-sm:right-[164px]">
      <span
        className={cx(
          "block h-full min-w-[2px] rounded-1",
          isRest ? "bg-pressed" : "bg-bar group-hover/bar:bg-bar-hover",
        )}
        style={{ width: `${width * 100}%` }}
      />
    </span>
  );
}

interface NumbersProps {
  readonly clicks: number;
  readonly share: number;
  readonly change?: string | undefined;
  readonly isUp?: boolean;
}

function Numbers({ clicks, share, change, isUp = false }: NumbersProps) {
  return (
    <>
      <span className={cx("num relative text-right text-12", isUp ? "text-ok" : "text-text-2")}>{change}</span>
      <span className="num relative text-right">{formatNumber(clicks)}</span>
      <span className="num relative text-right text-12 text-text-3">{formatPercent(share)}</span>
    </>
  );
}
