import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Link } from "../../api/generated.ts";
import { onLive } from "../../api/live.ts";
import { dateFormat, formatDay, formatNumber, formatRoundPercent } from "../../format.ts";
import { useLinkDrawer } from "../../shell/link-drawer.ts";
import { linkTexts } from "../../texts/link.ts";
import { Card } from "../../ui/card.tsx";
import { cx } from "../../ui/class-names.ts";
import { Meter, MeterKey, meterTone } from "../../ui/meter.tsx";
import { useWorkspace } from "../../workspace.ts";
import { putLink } from "../edit/link-cache.ts";
import { forecastOf } from "./forecast.ts";

const t = linkTexts.quota;

/** Hits of the month, when they will be used up, and what happens then. */
export function QuotaCard({ link }: { readonly link: Link }) {
  const { can } = useWorkspace();
  const drawer = useLinkDrawer();
  useLiveHits(link);
  const { hitsUsed: used, hitsLimit: limit } = link;
  const forecast = forecastOf(link, Date.now());
  const month = dateFormat({ month: "long", timeZone: "UTC" }).format(forecast.monthStart);
  const resets = formatDay(forecast.monthEnd, "UTC");
  const isFull = limit !== null && used >= limit;
  const then = link.fallbackUrl === null ? (isFull ? t.nowPage : t.thenPage) : isFull ? t.nowFallback : t.thenFallback;
  const tone = limit === null ? "accent" : meterTone(used, limit);
  return (
    <Card padded>
      <h2 className="font-semibold">{limit === null ? t.titleNoLimit(month) : t.title(month)}</h2>
      <p className="num mt-0.5 mb-2.5 flex items-baseline gap-1.5 text-text-2">
        <span className="text-18 font-semibold tracking-[-.012em] text-text">{formatNumber(used)}</span>
        {limit === null ? t.hits(used) : t.of(limit)}
        {limit !== null && limit > 0 && (
          <span className={cx("ml-auto font-medium", { accent: "", warn: "text-warn", bad: "text-bad" }[tone])}>
            {formatRoundPercent(Math.floor((used / limit) * 100) / 100)}
          </span>
        )}
      </p>
      {limit === null ? (
        <p className="text-12 text-text-3">{t.noLimit}</p>
      ) : (
        <>
          <Meter
            label={t.label}
            used={used}
            limit={limit}
            forecast={forecast.expected}
            valueText={t.value(formatNumber(used), limit)}
          />
          <div className="mt-2.5">
            <MeterKey tone={tone} used={t.used} expected={isFull ? undefined : t.expected}>
              {t.resets(resets)}
            </MeterKey>
          </div>
          <p className="mt-3 border-t border-line pt-3 text-12 leading-[18px] text-text-2">
            {isFull ? (
              <strong className="font-semibold text-bad">{t.full} </strong>
            ) : forecast.fullAt !== undefined ? (
              <>
                <strong className="font-semibold text-warn">{t.fullAround(longDay(forecast.fullAt))} </strong>
                {t.atPace(forecast.perDay)}{" "}
              </>
            ) : used === 0 ? (
              `${t.noHits} `
            ) : (
              `${t.enough(forecast.expected, resets)} `
            )}
            {(isFull || forecast.fullAt !== undefined) && `${then} `}
            {can("links:write") && (
              <button
                type="button"
                onClick={() => drawer.edit(link.id)}
                className="touch rounded-1 font-medium text-accent-text hover:underline"
              >
                {t.raise}
              </button>
            )}
          </p>
        </>
      )}
    </Card>
  );
}

const longDay = (at: number): string => dateFormat({ day: "numeric", month: "long" }).format(at);

/** The stream says how many hits were counted. */
function useLiveHits({ id, domain, code }: Link): void {
  const queries = useQueryClient();
  useEffect(
    () =>
      onLive(({ event, data }) => {
        if (event !== "quota") return;
        const { link, used } = data as { link: { domain: string; code: string }; used: number };
        if (link.domain !== domain || link.code !== code) return;
        putLink(queries, id, (before) => ({ ...before, hitsUsed: Math.max(before.hitsUsed, used) }));
      }),
    [queries, id, domain, code],
  );
}
