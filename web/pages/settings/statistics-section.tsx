import { useState } from "react";
import { call } from "../../api/call.ts";
import type { ClickSettings } from "../../api/generated.ts";
import { formatNumber } from "../../format.ts";
import { commonTexts } from "../../texts/common.ts";
import { settingsTexts as t } from "../../texts/settings.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { Switch } from "../../ui/checkbox.tsx";
import { Combobox } from "../../ui/combobox.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { wholeNumberOf } from "../../whole-number.ts";
import { useSave } from "./use-save.ts";

const zones = Intl.supportedValuesOf("timeZone").map((value) => ({ value, label: value.replaceAll("_", " ") }));

export function StatisticsSection({ settings }: { readonly settings: ClickSettings }) {
  const [timeZone, setTimeZone] = useState(settings.timeZone);
  const [facts, setFacts] = useState(settings.facts);
  const [days, setDays] = useState(settings.eventDays === null ? "" : String(settings.eventDays));
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
    { refreshes: ["/api/stats"] },
  );
  const isChanged = timeZone !== settings.timeZone || facts !== settings.facts || eventDays !== settings.eventDays;
  const kept = settings.eventsKeptDays;
  const options = zones.some(({ value }) => value === timeZone)
    ? zones
    : [{ value: timeZone, label: timeZone }, ...zones];
  return (
    <form ref={form} noValidate onSubmit={onSubmit}>
      <Section
        title={t.statistics}
        description={t.statisticsText}
        actions={
          <Button type="submit" loading={isSaving} disabled={!isChanged}>
            {commonTexts.save}
          </Button>
        }
      >
        <Field label={t.timeZone} hint={t.timeZoneHint} error={errors.timeZone}>
          <Combobox
            options={options}
            value={timeZone}
            onValueChange={(value) => value !== null && setTimeZone(value)}
            clearLabel={t.comboClear}
            openLabel={t.comboOpen}
            emptyText={t.comboEmpty}
          />
        </Field>
        <Switch label={t.facts} description={t.factsHint} checked={facts} onCheckedChange={setFacts} />
        <Field
          label={t.eventDays}
          hint={t.eventDaysHint(kept === null ? t.forGood : t.days(kept, formatNumber(kept)))}
          error={errors.eventDays}
        >
          <Input
            inputMode="numeric"
            value={days}
            onChange={(event) => setDays(event.target.value)}
            suffix={t.eventDaysSuffix}
          />
        </Field>
      </Section>
    </form>
  );
}
