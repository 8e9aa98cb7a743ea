import { useState } from "react";
import { countryName, formatNumber, formatPercent } from "../../../format.ts";
import { reportTexts } from "../../../texts/report.ts";
import { cx } from "../../../ui/class-names.ts";
import type { Breakdown } from "../bar-rows.ts";
import { mapHeight, mapWidth } from "./projection.ts";
import { worldShapes } from "./world-shapes.ts" with { type: "macro" };

const t = reportTexts.cards;
const shapes = worldShapes();

interface WorldMapProps {
  readonly found: Breakdown;
  readonly total: number;
  isChosen(country: string): boolean;
  onToggle(country: string, exclude: boolean): void;
}

/**
 * Clicks by country. A click filters, as in the list, which stands below for the keyboard and for countries that are too
 * small for a shape.
 */
export function WorldMap({ found, total, isChosen, onToggle }: WorldMapProps) {
  const [at, setAt] = useState<{ readonly code: string; readonly x: number; readonly y: number }>();
  const clicks = new Map(found.values.map((one) => [one.value, one.clicks]));
  const most = Math.max(1, ...clicks.values());
  const isRight = at !== undefined && at.x > 0.55;
  return (
    <div className="relative px-2 pb-2">
      <svg
        viewBox={`0 0 ${mapWidth} ${mapHeight}`}
        role="img"
        aria-label={t.mapLabel}
        className="block w-full"
        onPointerLeave={() => setAt(undefined)}
      >
        {shapes.map(({ code, path }, place) => {
          const count = clicks.get(code) ?? 0;
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the list below does the same by keyboard
            <path
              // biome-ignore lint/suspicious/noArrayIndexKey: the shapes never change
              key={place}
              d={path}
              className={cx(
                "stroke-surface stroke-[0.7]",
                count > 0 ? "cursor-pointer fill-chart-1 hover:stroke-text hover:stroke-[1.5]" : "fill-pressed",
                code !== "" && isChosen(code) && "stroke-text stroke-[2]",
              )}
              {...(count > 0 && { fillOpacity: shade(count / most) })}
              onPointerMove={(event) => {
                const box = event.currentTarget.ownerSVGElement?.getBoundingClientRect();
                if (box === undefined || code === "") return setAt(undefined);
                setAt({ code, x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height });
              }}
              onClick={(event) => count > 0 && onToggle(code, event.altKey)}
            />
          );
        })}
      </svg>
      {at !== undefined && (
        <p
          aria-hidden
          className="num pointer-events-none absolute z-10 flex gap-2 rounded-2 bg-raised px-2 py-1 text-12 whitespace-nowrap shadow-2"
          style={{
            top: `calc(${at.y * 100}% - 8px)`,
            ...(isRight ? { right: `calc(${(1 - at.x) * 100}% + 16px)` } : { left: `calc(${at.x * 100}% + 20px)` }),
          }}
        >
          <span className="font-medium">{countryName(at.code)}</span>
          <span>{formatNumber(clicks.get(at.code) ?? 0)}</span>
          {total > 0 && <span className="text-text-3">{formatPercent((clicks.get(at.code) ?? 0) / total)}</span>}
        </p>
      )}
      <p aria-hidden className="flex items-center justify-end gap-1.5 text-11 text-text-3">
        {t.fewer}
        {shades.map((opacity) => (
          <span key={opacity} className="h-2 w-4 rounded-[2px] bg-chart-1" style={{ opacity }} />
        ))}
        {t.more}
      </p>
    </div>
  );
}

const shades = [0.18, 0.36, 0.56, 0.78, 1] as const;

/** In five steps, by the square root: one large country would leave all others pale. */
const shade = (share: number): number => shades[Math.min(4, Math.floor(Math.sqrt(share) * 5))] ?? 1;
