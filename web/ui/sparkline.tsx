import { cx } from "./class-names.ts";

interface SparklineProps {
  readonly values: readonly number[];
  /** Grey, for what is expired or disabled. */
  readonly quiet?: boolean | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  /** Read out instead of the line. Decoration without it. */
  readonly label?: string | undefined;
}

/** Starts at zero and has no axis. */
export function Sparkline({ values, quiet, width = 78, height = 24, label }: SparklineProps) {
  return (
    <svg
      role={label === undefined ? undefined : "img"}
      aria-label={label}
      aria-hidden={label === undefined || undefined}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      className="block overflow-visible"
    >
      <path
        d={sparkPath(values, width, height)}
        className={cx(
          "fill-none stroke-[1.5] [stroke-linecap:round] [stroke-linejoin:round]",
          quiet ? "stroke-text-disabled" : "stroke-accent",
        )}
      />
    </svg>
  );
}

/** The line's own width stays inside the box. */
const insetPx = 1;

export function sparkPath(values: readonly number[], width: number, height: number): string {
  const points = values.length === 1 ? [...values, ...values] : values;
  const top = Math.max(1, ...points);
  const step = (width - 2 * insetPx) / Math.max(1, points.length - 1);
  return points
    .map((value, index) => {
      const x = insetPx + index * step;
      const y = height - insetPx - (value / top) * (height - 2 * insetPx);
      return `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
    })
    .join("");
}
