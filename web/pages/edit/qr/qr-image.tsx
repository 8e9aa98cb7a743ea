import { useMemo } from "react";
import { qrTexts as t } from "../../../texts/edit.ts";
import { cx } from "../../../ui/class-names.ts";
import type { QrDesign } from "./design.ts";
import { drawingOf } from "./drawing.ts";

interface QrImageProps {
  readonly shortUrl: string;
  readonly design: QrDesign;
  readonly className?: string | undefined;
}

/** The same in both themes: a scanner needs its colours. */
export function QrImage({ shortUrl, design, className }: QrImageProps) {
  const { width, path, hole } = useMemo(() => drawingOf(shortUrl, design), [shortUrl, design]);
  return (
    <svg
      role="img"
      aria-label={t.label(shortUrl)}
      viewBox={`0 0 ${width} ${width}`}
      className={cx("block rounded-2", design.isTransparent && "bg-white", className)}
    >
      <g shapeRendering="crispEdges">
        {!design.isTransparent && <rect width={width} height={width} fill={design.light} />}
        <path fill={design.dark} d={path} />
      </g>
      {design.logo && hole && (
        <image href={design.logo} x={hole.at + 0.5} y={hole.at + 0.5} width={hole.size - 1} height={hole.size - 1} />
      )}
    </svg>
  );
}
