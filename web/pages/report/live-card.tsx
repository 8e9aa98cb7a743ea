import { useEffect, useState } from "react";
import { formatAge, formatDateTime, formatNumber } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { reportTexts } from "../../texts/report.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { cx } from "../../ui/class-names.ts";
import { Empty, ErrorState, Skeleton } from "../../ui/states.tsx";
import { deviceOf, isCounted, kindOf, placeOf, sourceOf } from "./click-words.ts";
import type { LiveClick, LiveClicks } from "./use-live-clicks.ts";
import { useReducedMotion } from "./use-reduced-motion.ts";

const t = reportTexts.live;
const shownMost = 11;
const minutes = 5;
const tickMs = 10_000;

interface LiveCardProps {
  readonly live: LiveClicks;
  /** Of the report. */
  readonly zone: string | undefined;
  /** With the link of each click. */
  readonly withLink?: boolean;
  readonly className?: string;
}

/** Clicks as they happen. Bots are named as such and not counted. With reduced motion new ones wait behind a button. */
export function LiveCard({ live, zone, withLink = false, className }: LiveCardProps) {
  const now = useNow(live.clicks);
  const isCalm = useReducedMotion();
  const [seen, setSeen] = useState<string>();
  const { clicks, state } = live;
  const at = isCalm ? clicks.findIndex(({ key }) => key === seen) : 0;
  const waiting = isCalm ? (at >= 0 ? at : clicks.filter(({ isFresh }) => isFresh).length) : 0;
  const shown = clicks.slice(waiting, waiting + shownMost);
  const recent = clicks.filter((click) => isCounted(click) && now - Date.parse(click.at) < minutes * 60_000).length;
  return (
    <Card aria-label={t.title} className={className}>
      <div className="flex min-h-[42px] items-center gap-2 px-4">
        <span
          aria-hidden
          className={cx("size-2 flex-none rounded-full", state === "live" ? "bg-ok" : "bg-text-disabled")}
        />
        <h2 className="font-semibold">{t.title}</h2>
        <span role="status" className="num ml-auto text-12 text-text-3">
          {state === "paused"
            ? t.paused
            : state === "connecting"
              ? t.connecting
              : t.count(t.clicks(recent), formatNumber(minutes))}
        </span>
      </div>
      {waiting > 0 && (
        <div className="border-t border-line px-4 py-2 text-center">
          <Button size="sm" onClick={() => setSeen(clicks[0]?.key)}>
            {t.fresh(formatNumber(waiting))}
          </Button>
        </div>
      )}
      {live.isThisServerOnly && <p className="border-t border-line px-4 py-2 text-12 text-warn">{t.thisServerOnly}</p>}
      {live.notShown > 0 && (
        <p className="num border-t border-line px-4 py-2 text-12 text-text-3">{t.notShown(live.notShown)}</p>
      )}
      {shown.length > 0 ? (
        <ol className="pb-1">
          {shown.map((click) => (
            <LiveLine key={click.key} click={click} zone={zone} now={now} withLink={withLink} />
          ))}
        </ol>
      ) : live.isLoading ? (
        <Waiting />
      ) : live.error ? (
        <ErrorState
          small
          message={`${t.couldNotLoad} ${messageOf(live.error)}`}
          retryLabel={commonTexts.tryAgain}
          onRetry={live.retry}
        />
      ) : (
        <Empty small>{t.empty}</Empty>
      )}
    </Card>
  );
}

interface LiveLineProps {
  readonly click: LiveClick;
  readonly zone: string | undefined;
  readonly now: number;
  readonly withLink: boolean;
}

function LiveLine({ click, zone, now, withLink }: LiveLineProps) {
  const counts = isCounted(click);
  const title = counts ? placeOf(click) : kindOf(click);
  const about = counts ? `${deviceOf(click)} · ${sourceOf(click)}` : `${deviceOf(click)} · ${t.notCounted}`;
  const link = `${click.link.domain}/${click.link.code}`;
  return (
    <li
      className={cx(
        "grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 border-t border-line px-4 py-1.5",
        click.isFresh && "animate-arrive",
      )}
    >
      <span className={cx("truncate", !counts && "text-text-3")} title={title}>
        {title}
      </span>
      <time dateTime={click.at} title={formatDateTime(click.at, zone)} className="num text-12 leading-5 text-text-3">
        {formatAge(now - Date.parse(click.at))}
      </time>
      <span className="col-span-2 truncate text-12 text-text-3" title={about}>
        {withLink && <span className="text-text-2">{link} · </span>}
        {about}
      </span>
    </li>
  );
}

function Waiting() {
  return (
    <div role="status" className="grid gap-4 border-t border-line px-4 py-3">
      <span className="sr-only">{commonTexts.loading}</span>
      {[70, 55, 80, 60].map((width) => (
        <span key={width} className="block" style={{ width: `${width}%` }}>
          <Skeleton className="h-8" />
        </span>
      ))}
    </div>
  );
}

/** Ages are counted on while nothing happens. */
function useNow(renewedBy: unknown): number {
  const [now, setNow] = useState(() => Date.now());
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new click brings its own age
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, [renewedBy]);
  return now;
}
