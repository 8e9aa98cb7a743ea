import { useState } from "react";
import { formatNumber } from "../../format.ts";
import { commonTexts } from "../../texts/common.ts";
import { reportTexts as t } from "../../texts/report.ts";
import { Button } from "../../ui/button.tsx";
import { AddChip } from "../../ui/chip.tsx";
import { MultiCombobox } from "../../ui/combobox.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { Popover } from "../../ui/popover.tsx";
import { Select } from "../../ui/select.tsx";
import { Segmented } from "../../ui/tabs.tsx";
import { type Filter, type FilterField, type FilterKind, filterFields } from "./filters.ts";
import { type Dimension, type Subject, useReportQuery } from "./report-query.ts";
import type { ReportControls } from "./report-state.ts";
import { valueName } from "./values.ts";

interface FilterPopoverProps {
  readonly controls: ReportControls;
  readonly subject: Subject;
  readonly isOpen: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

export function FilterPopover({ controls, subject, isOpen, onOpenChange }: FilterPopoverProps) {
  return (
    <Popover
      label={t.filterBy}
      open={isOpen}
      onOpenChange={onOpenChange}
      className="w-80"
      trigger={<AddChip data-filter-add="">{t.addFilter}</AddChip>}
    >
      {isOpen && <NewFilter controls={controls} subject={subject} onDone={() => onOpenChange(false)} />}
    </Popover>
  );
}

/** These are no facts of a click, so there is no list of their values. */
const withoutList = new Set<FilterField>(["reason", "domain", "tag", "link"]);
/** These are compared as a whole. */
const wholeOnly = new Set<FilterField>(["link", "domain", "tag", "reason"]);
const reasons = Object.keys(t.reasons).filter((one) => one !== "unknown");
const valuesMost = 100;

interface NewFilterProps {
  readonly controls: ReportControls;
  readonly subject: Subject;
  readonly onDone: () => void;
}

function NewFilter({ controls, subject, onDone }: NewFilterProps) {
  const [field, setField] = useState<FilterField>("referrer");
  const [kind, setKind] = useState<FilterKind>("is");
  const [values, setValues] = useState<readonly string[]>([]);
  const [isTried, setTried] = useState(false);
  const fields = filterFields.filter((one) => subject.kind === "workspace" || !["link", "domain"].includes(one));
  const kinds: readonly FilterKind[] = wholeOnly.has(field) ? ["is", "isNot"] : ["is", "isNot", "contains"];
  const given = values.filter((value) => kind !== "contains" || value !== "");

  function choose(next: FilterField): void {
    setField(next);
    setValues([]);
    if (wholeOnly.has(next) && kind === "contains") setKind("is");
  }

  function add(): void {
    setTried(true);
    if (given.length === 0) return;
    const others = controls.filters.filter((one) => one.field !== field || one.kind !== kind);
    const filter: Filter = { field, kind, values: given };
    controls.setFilters([...others, filter]);
    onDone();
  }

  return (
    <form
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <Field label={t.filterBy}>
        <Select
          value={field}
          onValueChange={(next) => choose(next as FilterField)}
          options={fields.map((value) => ({ value, label: t.fields[value] }))}
        />
      </Field>
      <Segmented
        label={t.filterKind}
        value={kind}
        onValueChange={(next) => {
          setKind(next);
          if (next === "contains" || kind === "contains") setValues([]);
        }}
        options={kinds.map((value) => ({ value, label: t.kinds[value] }))}
      />
      {kind === "contains" ? (
        <Field label={t.filterValue} error={isTried && given.length === 0 && t.filterMissing}>
          <Input value={values[0] ?? ""} onChange={(event) => setValues([event.target.value])} />
        </Field>
      ) : (
        <ValuePicker
          {...{ controls, subject, field, values }}
          onValuesChange={setValues}
          error={isTried && given.length === 0 ? t.filterMissing : undefined}
        />
      )}
      <div className="flex justify-end">
        <Button type="submit" variant="primary">
          {t.apply}
        </Button>
      </div>
    </form>
  );
}

interface ValuePickerProps {
  readonly controls: ReportControls;
  readonly subject: Subject;
  readonly field: FilterField;
  readonly values: readonly string[];
  readonly onValuesChange: (values: readonly string[]) => void;
  readonly error: string | undefined;
}

/** Values that occur in the period, the most frequent first; others can be typed. */
function ValuePicker({ controls, subject, field, values, onValuesChange, error }: ValuePickerProps) {
  const isListed = !withoutList.has(field);
  const asked = { breakdown: isListed ? [field as Dimension] : [], limit: valuesMost };
  const { data, isLoading } = useReportQuery(subject, controls, asked);
  const found = data?.breakdowns[field];
  const none = found && found.none > 0 ? [{ value: "", clicks: found.none }] : [];
  const listed = [...(found?.values ?? []), ...none].map(({ value, clicks }) => ({
    value: value === "" ? noneValue : value,
    label: valueName(field, value),
    remark: formatNumber(clicks),
  }));
  const options = field === "reason" ? reasons.map((value) => ({ value, label: valueName("reason", value) })) : listed;
  return (
    <Field label={t.filterValues} hint={isListed ? t.filterValuesHint : undefined} error={error}>
      <MultiCombobox
        values={values.map((value) => (value === "" ? noneValue : value))}
        onValuesChange={(next) => onValuesChange(next.map((value) => (value === noneValue ? "" : value)))}
        options={options}
        emptyText={t.noValues}
        {...(isLoading && { loadingText: commonTexts.loading })}
        {...(field !== "reason" && { createText: t.useTyped })}
        removeLabel={t.removeValue}
      />
    </Field>
  );
}

/** "None" among the options: a list item needs a value. */
const noneValue = "\u0000none";
