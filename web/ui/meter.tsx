import type { ReactNode } from "react";
import { cx } from "./class-names.ts";

interface MeterProps {
  /** The accessible name. */
  readonly label: string;
  readonly used: number;
  readonly limit: number;
  /** Expected at the end of the period, in the same unit. Drawn hatched. */
  readonly forecast?: number | undefined;
  /** What a screen reader says: "8,412 of 10,000 hits". */
  readonly valueText: string;
  /** sm is 4 px, for the sidebar; md is 8 px. */
  readonly size?: "sm" | "md" | undefined;
}

export type MeterTone = "accent" | "warn" | "bad";

const warnFrom = 0.8;

/** Blue below 80%, amber from 80%, red at 100%. */
export function meterTone(used: number, limit: number): MeterTone {
  if (used >= limit) return "bad";
  return used >= limit * warnFrom ? "warn" : "accent";
}

const colours = { accent: "text-accent", warn: "text-warn-fill", bad: "text-bad" } as const;
const hatch = "bg-[repeating-linear-gradient(115deg,currentColor_0_2px,transparent_2px_5px)]";

export function Meter({ label, used, limit, forecast, valueText, size = "md" }: MeterProps) {
  const usedPart = part(used, limit);
  const expectedPart = Math.max(0, part(forecast ?? 0, limit) - usedPart);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a <meter> cannot show a forecast
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={Math.min(used, limit)}
      aria-valuetext={valueText}
      className={cx(
        "flex overflow-hidden rounded-full bg-pressed",
        size === "sm" ? "h-1" : "h-2",
        colours[meterTone(used, limit)],
      )}
    >
      <span
        className={cx("flex-none bg-current", used > 0 && "min-w-[2px]", expectedPart === 0 && "rounded-full")}
        style={{ width: `${usedPart * 100}%` }}
      />
      {expectedPart > 0 && (
        <span className={cx("flex-none opacity-65", hatch)} style={{ width: `${expectedPart * 100}%` }} />
      )}
    </div>
  );
}

function part(value: number, limit: number): number {
  if (limit <= 0) return value > 0 ? 1 : 0;
  return Math.min(1, Math.max(0, value / limit));
}

interface MeterLineProps extends MeterProps {
  /** Right of the label: `<b>318</b> of 1,000`. */
  readonly figure: ReactNode;
}

/** Label and figure over a thin meter, as in the sidebar. */
export function MeterLine({ figure, ...meter }: MeterLineProps) {
  return (
    <div className="grid gap-1.5 text-12">
      <div className="num flex justify-between gap-2 text-text-2 [&_b]:font-medium [&_b]:text-text">
        <span className="truncate">{meter.label}</span>
        <span className="flex-none">{figure}</span>
      </div>
      <Meter size="sm" {...meter} />
    </div>
  );
}

interface MeterKeyProps {
  readonly tone: MeterTone;
  readonly used: string;
  readonly expected?: string | undefined;
  /** Right: "Resets 1 Dec". */
  readonly children?: ReactNode;
}

/** The legend under a meter with a forecast. */
export function MeterKey({ tone, used, expected, children }: MeterKeyProps) {
  const swatch = cx("h-2 w-2.5 rounded-[2px]", colours[tone]);
  return (
    <div className="flex flex-wrap gap-3 text-12 text-text-3">
      <span className="inline-flex items-center gap-[5px]">
        <span className={cx(swatch, "bg-current")} />
        {used}
      </span>
      {expected && (
        <span className="inline-flex items-center gap-[5px]">
          <span
            className={cx(swatch, "bg-[repeating-linear-gradient(115deg,currentColor_0_2px,transparent_2px_4px)]")}
          />
          {expected}
        </span>
      )}
      {children && <span className="ml-auto">{children}</span>}
    </div>
  );
}

interface ProgressProps {
  readonly label: string;
  /** 0 to 1; undefined while the length is unknown. */
  readonly value: number | undefined;
  readonly tone?: "accent" | "ok" | "bad" | undefined;
}

/** Work under way: an upload, an import. */
export function Progress({ label, value, tone = "accent" }: ProgressProps) {
  const percent = value === undefined ? undefined : Math.round(Math.min(1, Math.max(0, value)) * 100);
  const colour = { accent: "bg-accent", ok: "bg-ok", bad: "bg-bad" }[tone];
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      className="h-1 overflow-hidden rounded-full bg-pressed"
    >
      <div
        className={cx(
          "h-full rounded-full",
          colour,
          percent === undefined && "w-2/5 animate-pulse motion-reduce:animate-none",
        )}
        style={percent === undefined ? undefined : { width: `${percent}%` }}
      />
    </div>
  );
}
