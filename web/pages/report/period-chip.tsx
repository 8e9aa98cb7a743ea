import Calendar from "lucide-react/icons/calendar";
import ChevronDown from "lucide-react/icons/chevron-down";
import { useState } from "react";
import { commonTexts } from "../../texts/common.ts";
import { reportTexts as t } from "../../texts/report.ts";
import { Button } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { cx } from "../../ui/class-names.ts";
import { Combobox } from "../../ui/combobox.tsx";
import { DateField } from "../../ui/date-field.tsx";
import { Field } from "../../ui/field.tsx";
import { Popover } from "../../ui/popover.tsx";
import { dateIn, presets } from "./periods.ts";
import type { ReportControls } from "./report-state.ts";

interface PeriodChipProps {
  readonly controls: ReportControls;
  /** The period as the report has it: "1–16 Nov 2026". */
  readonly text: string;
}

/** The period: one of the usual ones, or another range, in the workspace's zone or another. */
export function PeriodChip({ controls, text }: PeriodChipProps) {
  const [isOpen, setOpen] = useState(false);
  const { preset, zone, workspaceZone } = controls;
  return (
    <Popover
      label={t.period}
      open={isOpen}
      onOpenChange={setOpen}
      className="w-[480px]"
      trigger={
        <Chip icon={Calendar} aria-label={`${t.period}: ${text}`}>
          {text}
          {zone !== workspaceZone && <span className="text-text-3">{zone}</span>}
          <ChevronDown className="size-3.5 text-text-3" />
        </Chip>
      }
    >
      <div className="-m-3 grid sm:grid-cols-[168px_minmax(0,1fr)]">
        <ul className="border-line p-1 max-sm:border-b sm:border-r">
          {presets.map((one) => (
            <li key={one}>
              <button
                type="button"
                aria-pressed={one === preset}
                onClick={() => {
                  controls.set({ period: one, from: undefined, to: undefined, interval: undefined });
                  setOpen(false);
                }}
                className={cx(
                  "flex min-h-[30px] w-full items-center rounded-1 px-2 text-left hover:bg-hover max-sm:min-h-11",
                  one === preset && "bg-pressed font-medium",
                )}
              >
                {t.presets[one]}
              </button>
            </li>
          ))}
        </ul>
        {isOpen && <OtherRange controls={controls} onDone={() => setOpen(false)} />}
      </div>
    </Popover>
  );
}

function OtherRange({ controls, onDone }: { readonly controls: ReportControls; readonly onDone: () => void }) {
  const { range, workspaceZone } = controls;
  const zone = controls.zone ?? "UTC";
  const dateOf = (moment: string | undefined) =>
    moment === undefined ? "" : moment.length === 10 ? moment : dateIn(zone, Date.parse(moment));
  const [from, setFrom] = useState(dateOf(range?.from));
  const [to, setTo] = useState(dateOf(range?.to));
  const [chosenZone, setZone] = useState<string | null>(controls.zone ?? null);
  const [isTried, setTried] = useState(false);
  const today = dateIn(zone, Date.now());
  const errors = {
    from: from === "" ? t.fromMissing : undefined,
    to: to !== "" && to < from ? t.toBeforeFrom : undefined,
  };
  return (
    <form
      className="grid content-start gap-3 p-3"
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (errors.from ?? errors.to) return;
        const isSame = from === dateOf(range?.from) && to === dateOf(range?.to);
        controls.set({
          ...(isSame ? {} : { period: undefined, from, to: to === "" ? undefined : to, interval: undefined }),
          zone: chosenZone === workspaceZone ? undefined : (chosenZone ?? undefined),
        });
        onDone();
      }}
    >
      <h3 className="font-semibold">{t.customRange}</h3>
      <div className="grid gap-2 sm:grid-cols-2">
        <Field label={t.from} error={isTried && errors.from}>
          <DateField kind="date" value={from} max={today} onValueChange={setFrom} />
        </Field>
        <Field label={t.to} error={isTried && errors.to}>
          <DateField kind="date" value={to} onValueChange={setTo} />
        </Field>
      </div>
      <p className="-mt-1 text-12 text-text-3">{t.toHint}</p>
      <Field label={t.zone}>
        <Combobox
          value={chosenZone}
          onValueChange={setZone}
          options={zoneOptions(workspaceZone)}
          emptyText={t.zoneSearch}
          clearLabel={commonTexts.remove}
          openLabel={t.zone}
        />
      </Field>
      <div className="flex justify-end">
        <Button type="submit" variant="primary">
          {t.apply}
        </Button>
      </div>
    </form>
  );
}

function zoneOptions(workspaceZone: string | undefined) {
  const all = Intl.supportedValuesOf("timeZone");
  const zones = [...new Set([...(workspaceZone ? [workspaceZone] : []), "UTC", ...all])];
  return zones.map((zone) => ({
    value: zone,
    label: zone === workspaceZone ? t.zoneWorkspace(zone) : zone,
  }));
}
