import { utmTexts as t } from "../../texts/edit.ts";
import { Button } from "../../ui/button.tsx";
import { Field, FieldError } from "../../ui/field.tsx";
import { Input, Textarea } from "../../ui/input.tsx";
import { Notice } from "../../ui/states.tsx";
import type { Editor } from "./editor.ts";
import { emptyUtm, type UtmForm, utmNames, withScheme } from "./link-form.ts";
import { finalUrl } from "./rules/simulate.ts";
import { UtmTemplates } from "./utm-templates.tsx";

export function UtmFields({ editor, disabled }: { readonly editor: Editor; readonly disabled: boolean }) {
  const { form, set, errorOf } = editor;
  const inUrl = utmOfUrl(form.url);
  const isAnySet = utmNames.some((name) => form.utm[name] !== "");
  return (
    <div className="grid gap-3">
      <p className="text-12 text-text-3">{t.hint}</p>
      {!disabled && <UtmTemplates utm={form.utm} onApply={(utm) => set({ utm })} />}
      {inUrl && !disabled && (
        <Notice
          action={
            <Button size="sm" onClick={() => set({ url: inUrl.url, utm: { ...form.utm, ...inUrl.utm } })}>
              {t.take}
            </Button>
          }
        >
          {t.found}
        </Notice>
      )}
      <div className="grid gap-3 sm:grid-cols-2">
        {utmNames.map((name) => (
          <Field key={name} label={t.names[name]} error={errorOf(`utm.${name}`)}>
            <Input
              value={form.utm[name]}
              readOnly={disabled}
              maxLength={200}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              placeholder={t.examples[name]}
              onChange={(event) => set({ utm: { ...form.utm, [name]: event.target.value } })}
            />
          </Field>
        ))}
        {isAnySet && !disabled && (
          <div className="flex items-end max-sm:justify-start">
            <Button variant="quiet" onClick={() => set({ utm: emptyUtm })}>
              {t.clear}
            </Button>
          </div>
        )}
      </div>
      {errorOf("utm") && <FieldError>{errorOf("utm")}</FieldError>}
      {form.kind === "url" && form.url !== "" && (
        <Field label={t.final}>
          <Textarea
            readOnly
            mono
            rows={2}
            value={finalUrl(form.url, form)}
            className="field-sizing-content bg-sunken break-all"
          />
        </Field>
      )}
    </div>
  );
}

/** What the address says already, and the address without it. */
function utmOfUrl(text: string): { readonly url: string; readonly utm: Partial<UtmForm> } | undefined {
  if (!text.includes("utm_")) return undefined;
  const full = withScheme(text);
  if (!URL.canParse(full)) return undefined;
  const url = new URL(full);
  const found = utmNames.flatMap((name) => {
    const value = url.searchParams.get(`utm_${name}`);
    url.searchParams.delete(`utm_${name}`);
    return value ? [[name, value]] : [];
  });
  return found.length === 0 ? undefined : { url: url.href, utm: Object.fromEntries(found) };
}
