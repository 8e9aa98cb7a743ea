import { useId, useState } from "react";
import { type AnnotationGroup, annotationGroups } from "./annotation-groups.ts";
import { labelPlaces, pathOf, roundTicks, scales } from "./scale.ts";
import { useWidth } from "./use-width.ts";

/**
 * Numbers over time: this period as a line with an area, the one before dashed, an interval that has not ended dotted. A
 * vertical line follows the pointer or the arrow keys; dragging, or Shift with the arrow keys and Enter, zooms in. The same
 * numbers are a table for screen readers.
 */
export interface TimeChartProps {
  readonly points: readonly TimePoint[];
  /** By place: the first of them is compared with the first point. */
  readonly previous?: readonly TimePoint[] | undefined;
  /** Whether the last interval goes on. */
  readonly isUnfinished: boolean;
  readonly annotations?: readonly ChartAnnotation[];
  readonly format: {
    value(value: number): string;
    /** On the axis: 4 Nov. */
    tick(start: string): string;
    /** In the tooltip: Friday 6 Nov. */
    moment(start: string): string;
    /** Of the compared value, in the tooltip: 21 Oct. */
    previousMoment(start: string): string;
    change(now: number, before: number): string;
  };
  readonly texts: {
    readonly label: string;
    readonly value: string;
    readonly change: string;
    readonly moment: string;
    readonly previous: string;
    /** Of an interval that goes on: so far. */
    readonly unfinished: string;
    /** How to zoom, for screen readers. */
    readonly hint: string;
    readonly empty: string;
    more(count: number): string;
  };
  onZoom?(from: string, to: string): void;
}

export interface TimePoint {
  readonly start: string;
  readonly value: number;
}

export interface ChartAnnotation {
  readonly id: string;
  /** The start of the interval that it belongs to. */
  readonly start: string;
  readonly text: string;
}

const height = 248;
const labelPixels = 76;
const tooltipPixels = 172;
/** Where the labels of annotations end. */
const labelBottom = 22;

export function TimeChart(props: TimeChartProps) {
  const { points, previous = [], isUnfinished, annotations = [], format, texts, onZoom } = props;
  const [holder, width] = useWidth<HTMLDivElement>();
  const [at, setAt] = useState<number>();
  const [from, setFrom] = useState<number>();
  const title = useId();
  const count = points.length;
  const most = Math.max(0, ...points.map(({ value }) => value), ...previous.map(({ value }) => value));
  const ticks = roundTicks(most);
  const left = 8 + Math.max(...ticks.map((tick) => format.value(tick).length)) * 7;
  const size = { width, height, left, right: 14, top: annotations.length > 0 ? 34 : 12, bottom: 26 };
  const { x, y, placeAt } = scales(size, count, ticks.at(-1) ?? 1);
  const finished = isUnfinished && count > 1 ? points.slice(0, -1) : points;
  const line = (all: readonly TimePoint[]) => pathOf(all.map(({ value }, place) => [x(place), y(value)] as const));
  const floor = height - size.bottom;
  const chosen = at === undefined ? undefined : points[at];
  const placed = annotations.flatMap((one) => {
    const place = points.findIndex(({ start }) => start === one.start);
    return place < 0 ? [] : [{ place, one, text: one.text }];
  });
  const groups = annotationGroups(placed, x, width, texts.more);

  const pointerPlace = (event: React.PointerEvent) =>
    placeAt(event.clientX - event.currentTarget.getBoundingClientRect().left);

  function zoom(one: number, other: number): void {
    const [first, last] = [points[Math.min(one, other)], points[Math.max(one, other)]];
    setFrom(undefined);
    if (first !== undefined && last !== undefined && one !== other) onZoom?.(first.start, last.start);
  }

  function onKeyDown(event: React.KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const current = at ?? (step > 0 ? -1 : count);
      if (event.shiftKey) setFrom(from ?? Math.max(0, Math.min(count - 1, current)));
      else setFrom(undefined);
      setAt(Math.max(0, Math.min(count - 1, current + step)));
    } else if (event.key === "Home" || event.key === "End") {
      event.preventDefault();
      setAt(event.key === "Home" ? 0 : count - 1);
    } else if (event.key === "Enter" && from !== undefined && at !== undefined) {
      event.preventDefault();
      zoom(from, at);
    } else if (event.key === "Escape" && at !== undefined) {
      event.stopPropagation();
      setAt(undefined);
      setFrom(undefined);
    }
  }

  return (
    <div ref={holder} className="relative">
      {/* Not `<title>`: browsers would show it beside our tooltip. */}
      <div className="sr-only">
        <span id={title}>{texts.label}</span>
        <span id={`${title}-hint`}>{texts.hint}</span>
      </div>
      {width > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: an svg cannot be a fieldset.
        <svg
          width={width}
          height={height}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move through the numbers.
          tabIndex={0}
          role="group"
          aria-labelledby={title}
          aria-describedby={`${title}-hint`}
          className="block touch-pan-y select-none rounded-2 outline-offset-[-2px]"
          onPointerMove={(event) => setAt(pointerPlace(event))}
          onPointerLeave={() => {
            setAt(undefined);
            setFrom(undefined);
          }}
          onPointerDown={(event) => {
            if (event.pointerType === "mouse" && onZoom) setFrom(pointerPlace(event));
          }}
          onPointerUp={(event) => {
            if (from !== undefined) zoom(from, pointerPlace(event));
          }}
          onKeyDown={onKeyDown}
          onBlur={() => setAt(undefined)}
        >
          {ticks.map((tick) => (
            <g key={tick}>
              <line
                x1={left}
                x2={width - size.right}
                y1={y(tick)}
                y2={y(tick)}
                className={tick === 0 ? "stroke-line-strong" : "stroke-chart-grid"}
              />
              <text x={left - 8} y={y(tick) + 4} textAnchor="end" className="axis fill-text-3 text-11">
                {format.value(tick)}
              </text>
            </g>
          ))}
          {labelPlaces(count, Math.max(2, Math.floor((width - left) / labelPixels))).map((place) => (
            <text
              key={place}
              x={Math.min(x(place), width - size.right)}
              y={height - 6}
              textAnchor={place === count - 1 && count > 1 ? "end" : place === 0 && count > 1 ? "start" : "middle"}
              className="axis fill-text-3 text-11"
            >
              {format.tick(points[place]?.start ?? "")}
            </text>
          ))}
          {from !== undefined && at !== undefined && from !== at && (
            <rect
              x={Math.min(x(from), x(at))}
              y={size.top}
              width={Math.abs(x(at) - x(from))}
              height={floor - size.top}
              className="fill-accent-soft opacity-60"
            />
          )}
          {most > 0 && count > 0 && (
            <>
              {previous.length > 1 && (
                <path
                  d={line(previous.slice(0, count))}
                  className="fill-none stroke-chart-prev"
                  strokeWidth={1.5}
                  strokeDasharray="4 4"
                />
              )}
              <path
                d={`${line(points)}L${x(count - 1)} ${floor}L${x(0)} ${floor}Z`}
                className="fill-chart-area stroke-none"
              />
              <path
                d={line(finished)}
                className="fill-none stroke-chart-1"
                strokeWidth={2}
                strokeLinejoin="round"
                strokeLinecap="round"
              />
              {isUnfinished && <Unfinished points={points} x={x} y={y} />}
            </>
          )}
          <Annotations {...{ groups, points, x, y }} />
          {at !== undefined && chosen !== undefined && (
            <g className="pointer-events-none">
              <line x1={x(at)} x2={x(at)} y1={size.top} y2={floor} className="stroke-line-control opacity-60" />
              {previous[at] && (
                <circle cx={x(at)} cy={y(previous[at].value)} r={3.5} className="fill-surface stroke-chart-prev" />
              )}
              <circle cx={x(at)} cy={y(chosen.value)} r={4} className="fill-chart-1 stroke-surface" strokeWidth={2} />
            </g>
          )}
        </svg>
      )}
      {most === 0 && (
        <p className="pointer-events-none absolute inset-0 grid place-items-center text-text-3">
          <span className="bg-surface px-2 py-1">{texts.empty}</span>
        </p>
      )}
      {at !== undefined && chosen !== undefined && (
        <Tooltip
          {...{ chosen, before: previous[at], format, texts }}
          isUnfinished={isUnfinished && at === count - 1}
          notes={placed.filter(({ place }) => place === at).map(({ text }) => text)}
          x={x(at)}
          width={width}
        />
      )}
      <Numbers {...{ points, previous, format, texts }} />
    </div>
  );
}

interface Placed {
  x(place: number): number;
  y(value: number): number;
}

function Unfinished({ points, x, y }: { readonly points: readonly TimePoint[] } & Placed) {
  const last = points.length - 1;
  const [before, now] = [points[last - 1], points[last]];
  if (now === undefined) return null;
  return (
    <>
      {before && (
        <path
          d={pathOf([
            [x(last - 1), y(before.value)],
            [x(last), y(now.value)],
          ])}
          className="fill-none stroke-chart-1"
          strokeWidth={2}
          strokeDasharray="2 4"
          strokeLinecap="round"
        />
      )}
      <circle cx={x(last)} cy={y(now.value)} r={4} className="fill-surface stroke-chart-1" strokeWidth={2} />
    </>
  );
}

interface AnnotationsProps extends Placed {
  readonly groups: readonly AnnotationGroup<ChartAnnotation>[];
  readonly points: readonly TimePoint[];
}

/** Labels hang from the top and point at their day. */
function Annotations({ groups, points, x, y }: AnnotationsProps) {
  return groups.map(({ places, members, text, left, width }) => (
    <g key={places[0]}>
      <title>{members.map((one) => one.text).join("\n")}</title>
      {places.map((place) => (
        <line
          key={place}
          x1={x(place)}
          x2={x(place)}
          y1={labelBottom}
          y2={y(points[place]?.value ?? 0)}
          className="stroke-text-3"
        />
      ))}
      <rect x={left} y={labelBottom - 20} width={width} height={20} rx={4} className="fill-tint-6" />
      <text
        x={left + width / 2}
        y={labelBottom - 6}
        textAnchor="middle"
        className="fill-tint-6-text text-11 font-medium"
      >
        {text}
      </text>
      {places.map((place) => (
        <circle
          key={place}
          cx={x(place)}
          cy={y(points[place]?.value ?? 0)}
          r={3.5}
          className="fill-surface stroke-text-3"
          strokeWidth={1.5}
        />
      ))}
    </g>
  ));
}

interface TooltipProps {
  readonly chosen: TimePoint;
  readonly before: TimePoint | undefined;
  readonly format: TimeChartProps["format"];
  readonly texts: TimeChartProps["texts"];
  readonly isUnfinished: boolean;
  readonly notes: readonly string[];
  readonly x: number;
  readonly width: number;
}

function Tooltip({ chosen, before, format, texts, isUnfinished, notes, x, width }: TooltipProps) {
  const isRight = x + tooltipPixels + 16 > width;
  return (
    <div
      className="pointer-events-none absolute top-8 rounded-3 bg-raised px-3 py-2 text-12 shadow-2"
      style={{ width: tooltipPixels, left: isRight ? Math.max(0, x - tooltipPixels - 12) : x + 12 }}
    >
      <p className="mb-1 text-13 font-semibold">
        {format.moment(chosen.start)}
        {isUnfinished && <span className="font-normal text-text-3"> {texts.unfinished}</span>}
      </p>
      <Row line="solid" name={texts.value} value={format.value(chosen.value)} />
      {before && <Row line="dashed" name={format.previousMoment(before.start)} value={format.value(before.value)} />}
      {before && <Row name={texts.change} value={format.change(chosen.value, before.value)} />}
      {notes.map((note) => (
        <p key={note} className="mt-1 border-t border-line pt-1 text-text-2">
          {note}
        </p>
      ))}
    </div>
  );
}

function Row({ line, name, value }: { line?: "solid" | "dashed"; name: string; value: string }) {
  return (
    <p className="flex items-center gap-2 leading-5 text-text-2">
      {line && (
        <span
          aria-hidden
          className={`w-3.5 shrink-0 border-t-2 ${line === "solid" ? "border-chart-1" : "border-dashed border-chart-prev"}`}
        />
      )}
      <span className="min-w-0 flex-1 truncate">{name}</span>
      <span className="num text-text">{value}</span>
    </p>
  );
}

function Numbers({
  points,
  previous,
  format,
  texts,
}: Pick<TimeChartProps, "points" | "previous" | "format" | "texts">) {
  return (
    // A table that is positioned itself would make the page longer.
    <div className="sr-only">
      <table>
        <caption>{texts.label}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.moment}</th>
            <th scope="col">{texts.value}</th>
            {previous && previous.length > 0 && <th scope="col">{texts.previous}</th>}
          </tr>
        </thead>
        <tbody>
          {points.map(({ start, value }, place) => (
            <tr key={start}>
              <th scope="row">{format.moment(start)}</th>
              <td>{format.value(value)}</td>
              {previous?.[place] && <td>{format.value(previous[place].value)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
