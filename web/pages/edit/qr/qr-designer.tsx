import ArrowLeftRight from "lucide-react/icons/arrow-left-right";
import { useId, useState } from "react";
import { formatNumber } from "../../../format.ts";
import { qrTexts as t } from "../../../texts/edit.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Field } from "../../../ui/field.tsx";
import { Input } from "../../../ui/input.tsx";
import { Select } from "../../../ui/select.tsx";
import { Notice } from "../../../ui/states.tsx";
import { useWorkspace } from "../../../workspace.ts";
import {
  contrastLeast,
  contrastOf,
  isColour,
  isInverted,
  marginMost,
  plainDesign,
  pngSizes,
  type QrDesign,
} from "./design.ts";
import { BrandButton, LogoField } from "./logo-field.tsx";
import { QrDownloads } from "./qr-box.tsx";
import { QrImage } from "./qr-image.tsx";
import { useQrDesign } from "./use-qr-design.ts";

interface QrDesignerProps {
  readonly shortUrl: string;
  readonly isFinal: boolean;
}

/** Colours, logo, margin and sizes of the workspace's QR codes. */
export function QrDesigner({ shortUrl, isFinal }: QrDesignerProps) {
  const { slug } = useWorkspace();
  const [design, setDesign] = useQrDesign(slug);
  const change = (next: Partial<QrDesign>) => setDesign({ ...design, ...next });
  const ratio = contrastOf(design);
  return (
    <div className="grid gap-5 sm:grid-cols-[200px_minmax(0,1fr)]">
      <div className="grid content-start justify-items-center gap-3">
        <QrImage shortUrl={shortUrl} design={design} className="size-48 outline-1 outline-line" />
        {isFinal ? (
          <div className="flex gap-1.5">
            <QrDownloads shortUrl={shortUrl} />
          </div>
        ) : (
          <p className="text-center text-12 text-text-3">{t.afterCreate}</p>
        )}
        <p className="text-center text-12 text-text-3">{t.source}</p>
      </div>
      <div className="grid content-start gap-4">
        <div className="flex items-end gap-1">
          <ColourField label={t.dark} value={design.dark} onChange={(dark) => change({ dark })} />
          <IconButton
            icon={ArrowLeftRight}
            label={t.swap}
            className="mb-0.5"
            onClick={() => change({ dark: design.light, light: design.dark })}
          />
          <ColourField label={t.light} value={design.light} onChange={(light) => change({ light })} />
        </div>
        {ratio < contrastLeast ? (
          <Notice tone="bad">{t.lowContrast(ratio.toFixed(1))}</Notice>
        ) : (
          isInverted(design) && <Notice tone="warn">{t.inverted}</Notice>
        )}
        <Checkbox
          label={t.transparent}
          checked={design.isTransparent}
          onCheckedChange={(isTransparent) => change({ isTransparent })}
        />
        <LogoField design={design} onChange={change} />
        <BrandButton onChange={change} />
        <Field label={t.margin} hint={t.marginHint(design.margin)}>
          <RangeInput value={design.margin} most={marginMost} onChange={(margin) => change({ margin })} />
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t.level} hint={design.logo === null ? undefined : t.levelWithLogo}>
            <Select
              value={design.logo === null ? design.level : "H"}
              disabled={design.logo !== null}
              onValueChange={(level) => change({ level: level as QrDesign["level"] })}
              options={(["L", "M", "Q", "H"] as const).map((level) => ({ value: level, label: t.levels[level] }))}
            />
          </Field>
          <Field label={t.size}>
            <Select
              value={String(design.pngPixels)}
              onValueChange={(size) => change({ pngPixels: Number(size) })}
              options={pngSizes.map((size) => ({ value: String(size), label: t.pixels(formatNumber(size)) }))}
            />
          </Field>
        </div>
        <div>
          <Button size="sm" variant="quiet" onClick={() => setDesign(plainDesign)}>
            {t.reset}
          </Button>
        </div>
      </div>
    </div>
  );
}

interface ColourFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** The picker of the browser, and the text for those who know their brand's colour. */
function ColourField({ label, value, onChange }: ColourFieldProps) {
  const [typed, setTyped] = useState<string>();
  const text = typed ?? value;
  const isBad = typed !== undefined && !isColour(normal(typed));
  return (
    <Field label={label} error={isBad && t.badColour} className="flex-1">
      <span className="flex gap-1.5">
        <input
          type="color"
          aria-label={t.pick(label)}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className="h-9 w-10 max-sm:h-11 max-sm:w-11 flex-none rounded-2 border border-line-control bg-surface p-1"
        />
        <Input
          value={text}
          maxLength={7}
          spellCheck={false}
          autoComplete="off"
          mono
          className="flex-1"
          onChange={(event) => {
            setTyped(event.target.value);
            const colour = normal(event.target.value);
            if (isColour(colour)) onChange(colour);
          }}
          onBlur={() => !isBad && setTyped(undefined)}
        />
      </span>
    </Field>
  );
}

const normal = (text: string): string => `#${text.trim().replace(/^#/, "").toLowerCase()}`;

interface RangeInputProps {
  readonly value: number;
  readonly most: number;
  readonly onChange: (value: number) => void;
}

function RangeInput({ value, most, onChange }: RangeInputProps) {
  const id = useId();
  return (
    <input
      id={id}
      type="range"
      aria-label={t.margin}
      min={0}
      max={most}
      value={value}
      onChange={(event) => onChange(Number(event.target.value))}
      className="h-9 max-sm:h-11 w-full accent-accent"
    />
  );
}
