import { useState } from "react";
import { reportTexts as t } from "../../texts/report.ts";
import { FilterChip, FilterWord } from "../../ui/chip.tsx";
import { FilterPopover } from "./filter-popover.tsx";
import type { Filter } from "./filters.ts";
import type { Subject } from "./report-query.ts";
import type { ReportControls } from "./report-state.ts";
import { valueName } from "./values.ts";

interface FilterChipsProps {
  readonly controls: ReportControls;
  readonly subject: Subject;
}

/** The filters as sentences; all of them must hold. */
export function FilterChips({ controls, subject }: FilterChipsProps) {
  const [isAdding, setAdding] = useState(false);
  const { filters, setFilters } = controls;
  return (
    <>
      {filters.map((filter, place) => (
        <FilterChip
          key={`${filter.field} ${filter.kind}`}
          removeLabel={t.removeFilter(sentenceOf(filter))}
          onRemove={() => setFilters(filters.toSpliced(place, 1))}
        >
          <FilterWord>
            {t.fields[filter.field]} {t.kinds[filter.kind]}
          </FilterWord>{" "}
          <span title={namesOf(filter).join(", ")}>{shortNames(filter)}</span>
        </FilterChip>
      ))}
      <FilterPopover controls={controls} subject={subject} isOpen={isAdding} onOpenChange={setAdding} />
    </>
  );
}

const namesOf = ({ field, kind, values }: Filter): readonly string[] =>
  kind === "contains" ? values : values.map((value) => valueName(field, value));

const namesShown = 3;

function shortNames(filter: Filter): string {
  const names = namesOf(filter);
  const shown = names.slice(0, namesShown).join(` ${t.or} `);
  return names.length > namesShown ? `${shown} +${names.length - namesShown}` : shown;
}

export const sentenceOf = (filter: Filter): string =>
  `${t.fields[filter.field]} ${t.kinds[filter.kind]} ${namesOf(filter).join(` ${t.or} `)}`;
