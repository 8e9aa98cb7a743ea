import { useRef, useState } from "react";
import { call } from "../../api/call.ts";
import type { Branding } from "../../api/generated.ts";
import { useEdits } from "../../forms.ts";
import { settingsTexts as t } from "../../texts/settings.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { Field, FieldError } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { useWorkspace } from "../../workspace.ts";
import { SaveActions } from "./save-actions.tsx";
import { useSave } from "./use-save.ts";

const logoMostBytes = 64 * 1_024;
/** `undefined`: as it is. `null`: none. */
type NewLogo = { readonly base64: string; readonly preview: string } | null | undefined;

interface Fields {
  readonly name: string;
  readonly colour: string;
  readonly logo: NewLogo;
}

export function BrandingSection({ branding }: { readonly branding: Branding }) {
  const { slug } = useWorkspace();
  const edits = useEdits<Fields>(`branding:${slug}`, {
    ...{ name: branding.name ?? "", colour: branding.colour ?? "", logo: undefined },
  });
  const { name, colour, logo } = edits.values;
  const [isTooBig, setIsTooBig] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const orNull = (text: string) => (text.trim() === "" ? null : text.trim());
  const { form, errors, isSaving, onSubmit } = useSave(
    () =>
      call("PATCH /api/branding", {
        body: {
          name: orNull(name),
          colour: orNull(colour),
          ...(logo !== undefined && { logo: logo === null ? null : logo.base64 }),
        },
      }),
    { refreshes: ["/api/branding"], edits },
  );
  const isChanged = orNull(name) !== branding.name || orNull(colour) !== branding.colour || logo !== undefined;
  const shownLogo = logo === undefined ? branding.logo?.url : logo?.preview;
  const isSaved = orNull(colour) === branding.colour;

  async function choose(file: File | undefined): Promise<void> {
    setIsTooBig(file !== undefined && file.size > logoMostBytes);
    if (file === undefined || file.size > logoMostBytes) return;
    const preview = await dataUrlOf(file);
    edits.set({ logo: { preview, base64: preview.slice(preview.indexOf(",") + 1) } });
  }

  return (
    <form ref={form} noValidate onSubmit={onSubmit}>
      <Section
        title={t.branding}
        description={t.brandingText}
        actions={<SaveActions isChanged={isChanged} isSaving={isSaving} onDiscard={edits.discard} />}
      >
        <Field label={t.brandName} hint={t.brandNameHint} error={errors.name}>
          <Input value={name} onChange={(event) => edits.set({ name: event.target.value })} />
        </Field>
        <Field
          label={t.colour}
          hint={
            isSaved && branding.colours ? t.colourHint(branding.colours.light, branding.colours.dark) : t.colourEmpty
          }
          error={errors.colour}
        >
          <div className="flex items-center gap-2">
            <Input
              value={colour}
              onChange={(event) => edits.set({ colour: event.target.value })}
              placeholder="#2d5bd8"
              spellCheck={false}
            />
            <input
              type="color"
              aria-label={t.colour}
              value={/^#[\da-f]{6}$/i.test(colour) ? colour : "#17181c"}
              onChange={(event) => edits.set({ colour: event.target.value })}
              className="size-9 flex-none rounded-2 border border-line-control bg-surface p-1 max-sm:size-11"
            />
          </div>
        </Field>
        <div className="grid gap-1.5">
          <span className="font-medium">{t.logo}</span>
          <div className="flex flex-wrap items-center gap-3">
            {shownLogo && (
              <img
                src={shownLogo}
                alt={t.logoAlt}
                className="h-10 max-w-40 rounded-1 border border-line bg-surface object-contain p-1"
              />
            )}
            <input
              ref={picker}
              type="file"
              accept="image/png,image/webp,image/svg+xml"
              aria-label={t.logo}
              className="sr-only"
              onChange={(event) => void choose(event.target.files?.[0])}
            />
            <Button onClick={() => picker.current?.click()}>{t.logoChoose}</Button>
            {shownLogo && (
              <Button variant="quiet" onClick={() => edits.set({ logo: null })}>
                {t.logoRemove}
              </Button>
            )}
          </div>
          {isTooBig && <FieldError>{t.logoTooBig}</FieldError>}
          {errors.logo && <FieldError>{errors.logo}</FieldError>}
          <p className="text-12 text-text-3">{t.logoHint}</p>
        </div>
      </Section>
    </form>
  );
}

const dataUrlOf = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
