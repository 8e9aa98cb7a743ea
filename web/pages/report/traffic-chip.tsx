import ChevronDown from "lucide-react/icons/chevron-down";
import { reportTexts as t } from "../../texts/report.ts";
import { FilterWord } from "../../ui/chip.tsx";
import { Menu, MenuRadio } from "../../ui/menu.tsx";
import { type ReportControls, type Traffic, traffics } from "./report-state.ts";

/** Which visits the figures have. Those that count, unless somebody asks for the others. */
export function TrafficChip({ controls }: { readonly controls: ReportControls }) {
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="inline-flex h-[26px] items-center gap-1.5 rounded-full bg-accent-soft pr-2 pl-[9px] text-12 whitespace-nowrap hover:bg-bar-hover max-sm:h-11 max-sm:px-3.5 max-sm:text-14"
        >
          <FilterWord>{t.trafficIs}</FilterWord>
          {t.traffics[controls.traffic]}
          <ChevronDown className="size-3.5 text-text-2" />
        </button>
      }
    >
      <MenuRadio<Traffic>
        label={t.traffic}
        value={controls.traffic}
        onValueChange={(next) => controls.set({ traffic: next === "people" ? undefined : next })}
        options={traffics.map((value) => ({ value, label: t.traffics[value] }))}
      />
    </Menu>
  );
}
