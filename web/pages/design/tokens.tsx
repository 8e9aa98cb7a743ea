import { cx } from "../../ui/class-names.ts";
import { Exhibit, Line } from "./exhibit.tsx";

const surfaces = [
  ["bg", "bg-bg"],
  ["surface", "bg-surface"],
  ["raised", "bg-raised"],
  ["sunken", "bg-sunken"],
  ["hover", "bg-hover"],
  ["pressed", "bg-pressed"],
  ["selected", "bg-selected"],
  ["accent-soft", "bg-accent-soft"],
  ["bar", "bg-bar"],
  ["ok-soft", "bg-ok-soft"],
  ["warn-soft", "bg-warn-soft"],
  ["bad-soft", "bg-bad-soft"],
] as const;

const marks = [
  ["ink", "bg-ink"],
  ["accent", "bg-accent"],
  ["ok", "bg-ok"],
  ["warn", "bg-warn"],
  ["warn-fill", "bg-warn-fill"],
  ["bad", "bg-bad"],
  ["chart-1", "bg-chart-1"],
  ["chart-2", "bg-chart-2"],
  ["chart-3", "bg-chart-3"],
  ["chart-4", "bg-chart-4"],
  ["chart-5", "bg-chart-5"],
  ["chart-6", "bg-chart-6"],
] as const;

const sizes = [
  ["text-11", "Axis labels, keys"],
  ["text-12", "Table headings, hints"],
  ["text-13", "The body"],
  ["text-14", "Card titles, phone body"],
  ["text-16", "Inputs on phones, leads"],
  ["text-18 font-semibold", "Page titles"],
  ["text-24 font-semibold", "Key figures"],
  ["text-30 font-semibold", "First run"],
] as const;

export function Tokens() {
  return (
    <Exhibit title="Colour and type">
      <Swatches colours={surfaces} />
      <Swatches colours={marks} />
      <Line>
        <span className="text-text">text</span>
        <span className="text-text-2">text-2</span>
        <span className="text-text-3">text-3</span>
        <span className="text-accent-text">accent-text</span>
        <span className="text-ok">ok</span>
        <span className="text-warn">warn</span>
        <span className="text-bad">bad</span>
      </Line>
      <div className="flex flex-wrap items-baseline gap-x-5 gap-y-2">
        {sizes.map(([name, use]) => (
          <span key={name} className={name}>
            {use}
          </span>
        ))}
      </div>
    </Exhibit>
  );
}

function Swatches({ colours }: { readonly colours: readonly (readonly [string, string])[] }) {
  return (
    <ul className="grid grid-cols-4 gap-2 sm:grid-cols-6 lg:grid-cols-12">
      {colours.map(([name, colour]) => (
        <li key={name} className="min-w-0 text-11 text-text-3">
          <span className={cx("mb-1 block h-8 rounded-2 border border-line", colour)} />
          <span className="block truncate">{name}</span>
        </li>
      ))}
    </ul>
  );
}
