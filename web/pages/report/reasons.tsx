import ExternalLink from "lucide-react/icons/external-link";
import type { ClickReport } from "../../api/generated.ts";
import { formatNumber } from "../../format.ts";
import { reportTexts } from "../../texts/report.ts";
import { Button } from "../../ui/button.tsx";
import { Popover, PopoverClose } from "../../ui/popover.tsx";
import { notCountedOf } from "./not-counted.ts";
import type { ReportControls } from "./report-state.ts";

const t = reportTexts.figures;

interface ReasonsProps {
  readonly report: ClickReport;
  readonly controls: ReportControls;
  readonly excludeAddress: string;
}

/** How many visits were of bots and previews. A click says of everything that was not counted why. */
export function Reasons({ report, controls, excludeAddress }: ReasonsProps) {
  const names: Readonly<Record<string, string>> = reportTexts.reasons;
  const found = Object.entries(report.reasons)
    .filter(([reason, clicks]) => reason !== "counted" && clicks > 0)
    .toSorted(([, one], [, other]) => other - one);
  const total = formatNumber(notCountedOf(report).bots);
  return (
    <Popover
      label={t.reasonsTitle}
      align="end"
      className="w-72"
      trigger={
        <button
          type="button"
          aria-label={`${total}. ${t.showReasons}`}
          className="touch rounded-1 underline decoration-line-strong decoration-dotted underline-offset-4 hover:text-text"
        >
          {total}
        </button>
      }
    >
      <h3 className="mb-1.5 font-semibold">{t.reasonsTitle}</h3>
      {found.length === 0 ? (
        <p className="text-text-2">{t.noBots}</p>
      ) : (
        <dl className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1.5">
          {found.map(([reason, clicks]) => (
            <div key={reason} className="contents">
              <dt className="text-text-2">{names[reason] ?? reason}</dt>
              <dd className="num text-right">{formatNumber(clicks)}</dd>
            </div>
          ))}
        </dl>
      )}
      {found.length > 0 && report.traffic !== "bots" && (
        <PopoverClose
          render={
            <Button size="sm" className="mt-2.5" onClick={() => controls.set({ traffic: "bots" })}>
              {t.showOnlyBots}
            </Button>
          }
        />
      )}
      <div className="-mx-3 mt-3 grid gap-1 border-t border-line px-3 pt-3">
        <h3 className="font-semibold">{t.yours}</h3>
        <p className="text-12 text-text-2">{t.yoursText}</p>
        <a
          href={excludeAddress}
          target="_blank"
          rel="noreferrer"
          className="inline-flex items-center gap-1.5 font-medium text-accent-text hover:underline max-sm:min-h-11"
        >
          {t.exclude}
          <ExternalLink className="size-3.5" />
        </a>
      </div>
    </Popover>
  );
}
