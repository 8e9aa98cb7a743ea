import Plus from "lucide-react/icons/plus";
import X from "lucide-react/icons/x";
import { formatPercent } from "../../format.ts";
import { splitTexts as t } from "../../texts/edit.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { FieldError } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import type { Editor } from "./editor.ts";
import { newKey, type SplitForm } from "./link-form.ts";
import { sharesOf } from "./rules/simulate.ts";

const splitMost = 10;
const startWeight = "50";

/** Destinations by weight, for visitors that match no rule. */
export function SplitField({ editor, disabled }: { readonly editor: Editor; readonly disabled: boolean }) {
  const { form, set, errorOf } = editor;
  const { split } = form;
  const shares = sharesOf(split.map(({ weight }) => weight));
  const setSplit = (next: readonly SplitForm[]) => set({ split: next });
  const row = (url: string): SplitForm => ({ key: newKey(), url, weight: startWeight });
  if (split.length === 0) {
    return (
      <div className="grid gap-2">
        <p className="text-12 text-text-3">{t.hint}</p>
        {!disabled && (
          <div>
            <Button size="sm" icon={Plus} onClick={() => setSplit([row(form.url), row("")])}>
              {t.start}
            </Button>
          </div>
        )}
      </div>
    );
  }
  const remove = (at: number) => setSplit(split.length <= 2 ? [] : split.toSpliced(at, 1));
  return (
    <div className="grid gap-2">
      <p className="text-12 text-text-3">{t.hint}</p>
      <ul className="grid gap-2">
        {split.map((part, at) => (
          <li key={part.key} className="grid gap-1">
            <div className="flex items-center gap-2 max-sm:flex-wrap">
              <Input
                type="url"
                aria-label={t.url(at + 1)}
                aria-invalid={errorOf(`split.${at}.url`) ? true : undefined}
                value={part.url}
                title={part.url}
                readOnly={disabled}
                autoComplete="off"
                autoCapitalize="off"
                spellCheck={false}
                className="flex-1 max-sm:basis-full"
                onChange={(event) => setSplit(split.with(at, { ...part, url: event.target.value }))}
              />
              <Input
                aria-label={t.weight(at + 1)}
                aria-invalid={errorOf(`split.${at}.weight`) ? true : undefined}
                value={part.weight}
                readOnly={disabled}
                inputMode="numeric"
                className="num w-16"
                onChange={(event) => setSplit(split.with(at, { ...part, weight: event.target.value }))}
              />
              <span className="num w-14 flex-none text-right text-text-2">{formatPercent(shares[at] ?? 0)}</span>
              {!disabled && <IconButton icon={X} size="xs" label={t.remove(at + 1)} onClick={() => remove(at)} />}
            </div>
            {[...new Set(editor.errorsBelow(`split.${at}`))].map((error) => (
              <FieldError key={error}>{error}</FieldError>
            ))}
          </li>
        ))}
      </ul>
      <span aria-hidden="true" className="flex h-1.5 gap-px overflow-hidden rounded-full">
        {split.map(({ key }, at) => (
          <span key={key} className={bars[at % bars.length]} style={{ width: `${(shares[at] ?? 0) * 100}%` }} />
        ))}
      </span>
      {errorOf("split") && <FieldError>{errorOf("split")}</FieldError>}
      {!disabled && (
        <div className="flex gap-2">
          {split.length < splitMost && (
            <Button size="sm" icon={Plus} onClick={() => setSplit([...split, row("")])}>
              {t.add}
            </Button>
          )}
          <Button
            size="sm"
            variant="quiet"
            onClick={() => setSplit(split.map((part) => ({ ...part, weight: startWeight })))}
          >
            {t.evenly}
          </Button>
        </div>
      )}
    </div>
  );
}

const bars = ["bg-chart-1", "bg-chart-2", "bg-chart-3", "bg-chart-4", "bg-chart-5", "bg-chart-6"] as const;
