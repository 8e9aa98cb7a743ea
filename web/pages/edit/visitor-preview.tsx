import ArrowRight from "lucide-react/icons/arrow-right";
import { useState } from "react";
import { countryName, formatRoundPercent, languageName, readerLanguage } from "../../format.ts";
import { ruleTexts, previewTexts as t } from "../../texts/edit.ts";
import { DateField } from "../../ui/date-field.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import { useFileName } from "./destination-field.tsx";
import { type LinkForm, withScheme } from "./link-form.ts";
import { devices, systems, type When } from "./rules/conditions.ts";
import { countryOptions, languageOptions } from "./rules/languages.ts";
import { type Outcome, simulate, type Visit } from "./rules/simulate.ts";

interface Picked {
  readonly country: string;
  readonly device: string;
  readonly os: string;
  readonly language: string;
  /** Local; empty: now. */
  readonly at: string;
  readonly query: string;
}

interface VisitorPreviewProps {
  readonly form: LinkForm;
  /** Inside a fold that has the title already. */
  readonly hideTitle?: boolean;
}

const usual = { device: "mobile", os: "ios", language: readerLanguage, at: "", query: "" };

/** "A visitor from Germany with a phone goes to …". Only what the rules ask for can be picked. */
export function VisitorPreview({ form, hideTitle }: VisitorPreviewProps) {
  const [chosen, setChosen] = useState<Partial<Picked>>({});
  // Until somebody chooses, a visitor whom the first rule is about.
  const picked: Picked = { ...usual, country: firstCountry(form), ...chosen };
  const asked = new Set(form.rules.flatMap(({ when }) => Object.keys(when) as (keyof When)[]));
  const asksTime = asked.has("from") || asked.has("until") || asked.has("hours");
  const change = (name: keyof Picked) => (value: string) => setChosen({ ...chosen, [name]: value });
  const outcome = simulate(form, visitOf(picked));
  return (
    <div className="grid gap-2">
      {!hideTitle && <h3 className="text-12 text-text-3">{t.visitor}</h3>}
      {form.rules.length > 0 && (
        <div className="grid grid-cols-2 gap-2">
          {asked.has("country") && (
            <Pick
              label={t.country}
              value={picked.country}
              onChange={change("country")}
              options={common(form, "country", countryOptions(), countryName)}
            />
          )}
          {asked.has("device") && (
            <Pick
              label={t.device}
              value={picked.device}
              onChange={change("device")}
              options={devices.map((value) => ({ value, label: ruleTexts.devices[value] }))}
            />
          )}
          {asked.has("os") && (
            <Pick
              label={t.os}
              value={picked.os}
              onChange={change("os")}
              options={systems.map((value) => ({ value, label: ruleTexts.systems[value] }))}
            />
          )}
          {asked.has("language") && (
            <Pick
              label={t.language}
              value={picked.language}
              onChange={change("language")}
              options={common(form, "language", languageOptions(), languageName, readerLanguage)}
            />
          )}
          {asksTime && (
            <Field label={t.time} remark={picked.at === "" && t.now} className="col-span-2">
              <DateField value={picked.at} onValueChange={change("at")} />
            </Field>
          )}
          {asked.has("query") && (
            <Field label={t.parameters} className="col-span-2">
              <Input
                value={picked.query}
                placeholder={t.parametersExample}
                autoCapitalize="off"
                spellCheck={false}
                onChange={(event) => change("query")(event.target.value)}
              />
            </Field>
          )}
        </div>
      )}
      <Destination form={form} outcome={outcome} />
    </div>
  );
}

function Destination({ form, outcome }: { readonly form: LinkForm; readonly outcome: Outcome }) {
  const file = useFileName(form.kind === "file" ? form.file : null);
  const isPlain = form.rules.length === 0 && form.split.length === 0;
  const why =
    outcome.kind === "rule"
      ? t.byRule(outcome.place + 1)
      : isPlain
        ? t.always
        : outcome.kind === "default"
          ? t.byDefault
          : "";
  const isFile = outcome.kind === "default" && form.kind === "file";
  // Not an address yet: nobody goes there.
  const complete = (url: string) => (URL.canParse(withScheme(url)) ? url : "");
  const parts =
    outcome.kind === "split" ? outcome.parts : [{ url: isFile ? (file ?? "") : complete(outcome.url), share: 1 }];
  return (
    <output className="grid gap-2 rounded-3 border border-line bg-surface p-3">
      {parts.map(({ url, share }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two parts may have the same address while they are typed
        <span key={at} className="flex min-w-0 items-start gap-1.5">
          <ArrowRight className="mt-[3px] size-3.5 text-text-3" />
          <span className="line-clamp-4 min-w-0 flex-1 break-all" title={url}>
            {url === "" ? <span className="text-text-3">{isFile ? t.file : t.nowhere}</span> : url}
          </span>
          {outcome.kind === "split" && <span className="num flex-none text-text-2">{formatRoundPercent(share)}</span>}
        </span>
      ))}
      {why !== "" && parts[0]?.url !== "" && <span className="text-12 text-text-3">{why}</span>}
      {form.password.mode !== "none" && <span className="text-12 text-text-3">{t.password}</span>}
    </output>
  );
}

interface Option {
  readonly value: string;
  readonly label: string;
}

interface PickProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly Option[];
}

function Pick({ label, value, onChange, options }: PickProps) {
  return (
    <Field label={label}>
      <Select value={value} onValueChange={onChange} options={[{ value: "", label: t.unknown }, ...options]} />
    </Field>
  );
}

/** Those that the rules name come first, then all. */
function common(
  form: LinkForm,
  kind: "country" | "language",
  all: readonly Option[],
  nameOf: (code: string) => string,
  ...more: readonly string[]
): Option[] {
  const named = [...new Set([...form.rules.flatMap(({ when }) => when[kind] ?? []), ...more])];
  return [
    ...named.map((value) => ({ value, label: nameOf(value) })),
    ...all.filter(({ value }) => !named.includes(value)),
  ];
}

const firstCountry = ({ rules }: LinkForm): string =>
  rules.find(({ when }) => when.country?.length)?.when.country?.[0] ?? "";

const visitOf = ({ country, device, os, language, at, query }: Picked): Visit => ({
  country: country === "" ? undefined : country,
  device: devices.find((one) => one === device),
  os: systems.find((one) => one === os),
  language: language === "" ? undefined : language,
  at: at === "" ? Date.now() : new Date(at).getTime(),
  query: query.replace(/^\?/, ""),
});
