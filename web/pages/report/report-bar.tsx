import ChevronLeft from "lucide-react/icons/chevron-left";
import ChevronRight from "lucide-react/icons/chevron-right";
import type { ClickReport } from "../../api/generated.ts";
import { useShortcuts } from "../../keys.ts";
import { reportTexts as t } from "../../texts/report.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { ChipSeparator } from "../../ui/chip.tsx";
import { CompareChip } from "./compare-chip.tsx";
import { FilterChips } from "./filter-chips.tsx";
import { rangeText } from "./moments.ts";
import { PeriodChip } from "./period-chip.tsx";
import type { Subject } from "./report-query.ts";
import type { ReportControls } from "./report-state.ts";
import { TrafficChip } from "./traffic-chip.tsx";

interface ReportBarProps {
  readonly controls: ReportControls;
  readonly subject: Subject;
  readonly report: ClickReport | undefined;
  /** Right: the export. */
  readonly actions?: React.ReactNode;
}

/** Period, comparison and filters of everything below. */
export function ReportBar({ controls, subject, report, actions }: ReportBarProps) {
  const { filters, setFilters, preset } = controls;
  const [before, after] = [controls.mover(-1), controls.mover(1)];
  useShortcuts([
    { keys: "[", run: () => before?.() },
    { keys: "]", run: () => after?.() },
    { keys: "/", run: () => document.querySelector<HTMLElement>("[data-filter-add]")?.click() },
    ...(filters.length > 0 ? [{ keys: "backspace", run: () => setFilters(filters.slice(0, -1)) }] : []),
  ]);
  const text = report ? rangeText(report, controls.endsNow) : preset ? t.presets[preset] : t.period;
  return (
    // On a phone a strip that scrolls: five chips of 44 px would push the figures off the screen.
    <div className="mb-3 flex flex-wrap items-center gap-1.5 max-sm:-mx-4 max-sm:flex-nowrap max-sm:overflow-x-auto max-sm:px-4 max-sm:*:flex-none">
      <span className="inline-flex items-center">
        <IconButton
          size="sm"
          icon={ChevronLeft}
          label={t.previousPeriod}
          shortcut="["
          disabled={before === undefined}
          onClick={before}
        />
        <PeriodChip controls={controls} text={text} />
        <IconButton
          size="sm"
          icon={ChevronRight}
          label={t.nextPeriod}
          shortcut="]"
          disabled={after === undefined}
          onClick={after}
        />
      </span>
      <CompareChip controls={controls} report={report} />
      <ChipSeparator />
      <TrafficChip controls={controls} />
      <FilterChips controls={controls} subject={subject} />
      {filters.length > 1 && (
        <Button size="sm" variant="quiet" onClick={() => setFilters([])}>
          {t.clearFilters}
        </Button>
      )}
      <span className="ml-auto flex items-center gap-1.5">{actions}</span>
    </div>
  );
}
