import { eventsLeastDays } from "../../../src/clicks/rollups/kept-days.ts";
import { call } from "../../api/call.ts";
import type { ClickSettings } from "../../api/generated.ts";
import { formatNumber } from "../../format.ts";
import { useEdits } from "../../forms.ts";
import { settingsTexts as t } from "../../texts/settings.ts";
import { Section } from "../../ui/card.tsx";
import { Switch } from "../../ui/checkbox.tsx";
import { Combobox } from "../../ui/combobox.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { wholeNumberOf } from "../../whole-number.ts";
import { useWorkspace } from "../../workspace.ts";
import { SaveActions } from "./save-actions.tsx";
import { useSave } from "./use-save.ts";

const zones = Intl.supportedValuesOf("timeZone").map((value) => ({ value, label: value.replaceAll("_", " ") }));

export function StatisticsSection({ settings }: { readonly settings: ClickSettings }) {
  const { slug } = useWorkspace();
  const edits = useEdits(`statistics:${slug}`, {
    ...{ timeZone: settings.timeZone, facts: settings.facts },
    days: settings.eventDays === null ? "" : String(settings.eventDays),
  });
  const { timeZone, facts, days } = edits.values;
  const eventDays = wholeNumberOf(days);
  const { form, errors, isSaving, onSubmit } = useSave(
    () =>
      call("PATCH /api/stats/settings", {
        body: {
          ...(timeZone !== settings.timeZone && { timeZone }),
          ...(facts !== settings.facts && { facts }),
          ...(eventDays !== settings.eventDays && { eventDays }),
        },
      }),
    { refreshes: ["/api/stats"], edits },
  );
  const isChanged = timeZone !== settings.timeZone || facts !== settings.facts || eventDays !== settings.eventDays;
  const kept = settings.eventsKeptDays;
  const daysText = (count: number) => t.days(count, formatNumber(count));
  const options = zones.some(({ value }) => value === timeZone)
    ? zones
    : [{ value: timeZone, label: timeZone }, ...zones];
  return (
    <form ref={form} noValidate onSubmit={onSubmit}>
      <Section
        title={t.statistics}
        description={t.statisticsText}
        actions={<SaveActions isChanged={isChanged} isSaving={isSaving} onDiscard={edits.discard} />}
      >
        <Field label={t.timeZone} hint={t.timeZoneHint} error={errors.timeZone}>
          <Combobox
            options={options}
            value={timeZone}
            onValueChange={(value) => value !== null && edits.set({ timeZone: value })}
            clearLabel={t.comboClear}
            openLabel={t.comboOpen}
            emptyText={t.comboEmpty}
          />
        </Field>
        <Switch
          label={t.facts}
          description={t.factsHint}
          checked={facts}
          onCheckedChange={(isOn) => edits.set({ facts: isOn })}
        />
        <Field
          label={t.eventDays}
          hint={t.eventDaysHint(kept === null ? t.forGood : daysText(kept), daysText(eventsLeastDays))}
          error={errors.eventDays}
        >
          <Input
            inputMode="numeric"
            value={days}
            onChange={(event) => edits.set({ days: event.target.value })}
            suffix={t.eventDaysSuffix(Number(days))}
          />
        </Field>
      </Section>
    </form>
  );
}
