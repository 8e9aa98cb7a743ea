import ChevronDown from "lucide-react/icons/chevron-down";
import type { ClickReport } from "../../api/generated.ts";
import { reportTexts as t } from "../../texts/report.ts";
import { Chip } from "../../ui/chip.tsx";
import { Menu, MenuRadio } from "../../ui/menu.tsx";
import { rangeText } from "./moments.ts";
import { type Comparison, comparisons, type ReportControls } from "./report-state.ts";

interface CompareChipProps {
  readonly controls: ReportControls;
  readonly report: ClickReport | undefined;
}

/** What the period is compared with. */
export function CompareChip({ controls, report }: CompareChipProps) {
  const previous = report?.previous;
  const compared = controls.compare;
  const text =
    compared === undefined
      ? undefined
      : previous && report
        ? rangeText({ ...previous, zone: report.zone }, controls.endsNow)
        : t.comparisons[compared];
  const options = [...comparisons, "none" as const].map((value) => ({ value, label: t.comparisons[value] }));
  return (
    <Menu
      align="start"
      trigger={
        <Chip>
          <span className="text-text-3">{text === undefined ? t.notCompared : t.comparedWith}</span>
          {text}
          <ChevronDown className="size-3.5 text-text-3" />
        </Chip>
      }
    >
      <MenuRadio<Comparison | "none">
        label={t.comparison}
        value={compared ?? "none"}
        onValueChange={(next) => controls.set({ compare: next === "previous" ? undefined : next })}
        options={options}
      />
    </Menu>
  );
}
