import { readerZone } from "../../../format.ts";
import { isoOf } from "../../../local-time.ts";
import { ruleTexts as t } from "../../../texts/edit.ts";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Combobox, MultiCombobox } from "../../../ui/combobox.tsx";
import { DateField } from "../../../ui/date-field.tsx";
import { Field, FieldSet } from "../../../ui/field.tsx";
import { Input } from "../../../ui/input.tsx";
import { localTime } from "../link-form.ts";
import { type ConditionKind, dayName, days, devices, type Hours, systems, type When } from "./conditions.ts";
import { countryOptions, isLanguageCode, languageOptions } from "./languages.ts";

interface PickerProps {
  readonly when: When;
  readonly onChange: (when: When) => void;
}

/** What a condition can be, in the popover of its chip. */
export function ConditionPicker({ kind, when, onChange }: PickerProps & { readonly kind: ConditionKind }) {
  switch (kind) {
    case "country":
      return (
        <Field label={t.country} className="w-72">
          <MultiCombobox
            values={when.country ?? []}
            onValuesChange={(country) => onChange({ ...when, country })}
            options={countryOptions()}
            placeholder={t.searchCountries}
            emptyText={t.nothingFound}
            removeLabel={t.removeValue}
          />
        </Field>
      );
    case "language":
      return (
        <Field label={t.language} className="w-72">
          <MultiCombobox
            values={when.language ?? []}
            onValuesChange={(language) => onChange({ ...when, language: language.filter(isLanguageCode) })}
            options={languageOptions()}
            placeholder={t.searchLanguages}
            emptyText={t.nothingFound}
            createText={t.addLanguage}
            removeLabel={t.removeValue}
          />
        </Field>
      );
    case "device":
      return (
        <Several
          legend={t.device}
          all={devices}
          names={t.devices}
          chosen={when.device ?? []}
          onChange={(device) => onChange({ ...when, device })}
        />
      );
    case "os":
      return (
        <Several
          legend={t.os}
          all={systems}
          names={t.systems}
          chosen={when.os ?? []}
          onChange={(os) => onChange({ ...when, os })}
        />
      );
    case "date":
      return <DatePicker when={when} onChange={onChange} />;
    case "hours":
      return <HoursPicker when={when} onChange={onChange} />;
    case "query":
      return <QueryPicker when={when} onChange={onChange} />;
  }
}

interface SeveralProps<Value extends string> {
  readonly legend: string;
  readonly all: readonly Value[];
  readonly names: Readonly<Record<Value, string>>;
  readonly chosen: readonly Value[];
  readonly onChange: (chosen: Value[]) => void;
}

function Several<Value extends string>({ legend, all, names, chosen, onChange }: SeveralProps<Value>) {
  return (
    <FieldSet legend={legend}>
      {all.map((value) => (
        <Checkbox
          key={value}
          label={names[value]}
          checked={chosen.includes(value)}
          onCheckedChange={(isOn) => onChange(all.filter((one) => (one === value ? isOn : chosen.includes(one))))}
        />
      ))}
    </FieldSet>
  );
}

function DatePicker({ when, onChange }: PickerProps) {
  const change = (name: "from" | "until") => (local: string) => {
    const { [name]: _, ...rest } = when;
    // A date that is only half typed is empty; the chip must not vanish meanwhile.
    if (local !== "" && Number.isNaN(Date.parse(local))) return;
    onChange(local === "" ? (Object.keys(rest).length > 0 ? rest : when) : { ...rest, [name]: isoOf(local) });
  };
  const local = (time: string | undefined) => (time === undefined ? "" : localTime(new Date(time)));
  return (
    <div className="grid gap-3">
      <Field label={t.from}>
        <DateField value={local(when.from)} onValueChange={change("from")} />
      </Field>
      <Field label={t.until}>
        <DateField value={local(when.until)} onValueChange={change("until")} />
      </Field>
    </div>
  );
}

const zones = (): readonly { readonly value: string; readonly label: string }[] =>
  [...new Set([readerZone(), "UTC", ...Intl.supportedValuesOf("timeZone")])].map((zone) => ({
    value: zone,
    label: zone.replaceAll("_", " "),
  }));

function HoursPicker({ when, onChange }: PickerProps) {
  const hours: Hours = when.hours ?? { zone: readerZone(), from: "09:00", until: "17:00" };
  const change = (next: Partial<Hours>) => onChange({ ...when, hours: { ...hours, ...next } });
  const chosen = hours.days ?? days;
  const setDays = (next: readonly (typeof days)[number][]) => {
    const { days: _, ...rest } = hours;
    onChange({ ...when, hours: next.length === days.length || next.length === 0 ? rest : { ...rest, days: next } });
  };
  return (
    <div className="grid w-72 gap-3">
      <div className="grid grid-cols-2 gap-3">
        <Field label={t.from}>
          <DateField kind="time" value={hours.from} onValueChange={(from) => from !== "" && change({ from })} />
        </Field>
        <Field label={t.until} hint={hours.until <= hours.from ? t.nextDay : undefined}>
          <DateField
            kind="time"
            value={hours.until === "24:00" ? "00:00" : hours.until}
            onValueChange={(until) => until !== "" && change({ until: until === "00:00" ? "24:00" : until })}
          />
        </Field>
      </div>
      <FieldSet legend={t.days}>
        <div className="flex flex-wrap gap-x-3 gap-y-1">
          {days.map((day) => (
            <Checkbox
              key={day}
              label={dayName(day)}
              checked={chosen.includes(day)}
              onCheckedChange={(isOn) => setDays(days.filter((one) => (one === day ? isOn : chosen.includes(one))))}
            />
          ))}
        </div>
      </FieldSet>
      <Field label={t.zone}>
        <Combobox
          value={hours.zone}
          onValueChange={(zone) => zone !== null && change({ zone })}
          options={zones()}
          emptyText={t.nothingFound}
          clearLabel={t.removeCondition}
          openLabel={t.zone}
        />
      </Field>
    </div>
  );
}

function QueryPicker({ when, onChange }: PickerProps) {
  const query = when.query ?? { name: "" };
  return (
    <div className="grid gap-3">
      <Field label={t.name}>
        <Input
          value={query.name}
          maxLength={100}
          autoCapitalize="off"
          spellCheck={false}
          onChange={(event) => onChange({ ...when, query: { ...query, name: event.target.value } })}
        />
      </Field>
      <Field label={t.value} hint={t.anyValue}>
        <Input
          value={query.value ?? ""}
          maxLength={200}
          autoCapitalize="off"
          spellCheck={false}
          onChange={(event) => {
            const { value: _, ...rest } = query;
            onChange({ ...when, query: event.target.value === "" ? rest : { ...rest, value: event.target.value } });
          }}
        />
      </Field>
    </div>
  );
}
