import Funnel from "lucide-react/icons/funnel";
import { formatNumber, formatPercent } from "../../format.ts";
import { reportTexts } from "../../texts/report.ts";
import { cx } from "../../ui/class-names.ts";
import type { BarRow } from "./bar-rows.ts";

const t = reportTexts.cards;

interface BarsProps {
  readonly rows: readonly BarRow[];
  /** What percentages are of. */
  readonly total: number;
  isChosen(value: string): boolean;
  onToggle(value: string, exclude: boolean): void;
  /** Shows what "Other" has. */
  readonly onOther?: (() => void) | undefined;
}

/** Rows as bars: the width is relative to the largest, the percentage to the total. A click filters, Alt-click excludes. */
export function Bars({ rows, total, isChosen, onToggle, onOther }: BarsProps) {
  const most = Math.max(1, ...rows.map(({ clicks }) => clicks));
  return (
    <ul className="grid gap-0.5 px-2 pb-2">
      {rows.map((row) => (
        <li key={`${row.kind} ${row.value}`}>
          <Bar
            row={row}
            width={row.clicks / most}
            share={total === 0 ? 0 : row.clicks / total}
            isOn={row.kind === "value" && isChosen(row.value)}
            {...(row.kind === "value" && {
              onPress: (event: React.MouseEvent) => onToggle(row.value, event.altKey),
            })}
            {...(row.kind === "other" && onOther && { onPress: onOther })}
          />
        </li>
      ))}
    </ul>
  );
}

interface BarProps {
  readonly row: BarRow;
  readonly width: number;
  readonly share: number;
  readonly isOn: boolean;
  readonly onPress?: (event: React.MouseEvent) => void;
}

const line =
  "group/bar relative grid h-7 w-full grid-cols-[minmax(0,1fr)_56px_54px] items-center rounded-1 pr-1.5 pl-2 text-left max-sm:h-11";

function Bar({ row, width, share, isOn, onPress }: BarProps) {
  const name = nameOf(row);
  const isRest = row.kind !== "value";
  const content = (
    <>
      <span aria-hidden className="absolute inset-y-0 right-[116px] left-0">
        <span
          className={cx(
            "block h-full min-w-[2px] rounded-1",
            isRest ? "bg-pressed" : isOn ? "bg-bar-hover" : "bg-bar group-hover/bar:bg-bar-hover",
          )}
          style={{ width: `${width * 100}%` }}
        />
      </span>
      <span className="relative flex min-w-0 items-center gap-1.5">
        <span className={cx("truncate", isRest && "text-text-2")} title={name}>
          {name}
        </span>
        {!isRest && (
          <Funnel
            className={cx(
              "size-3.5 text-accent-text",
              !isOn && "opacity-0 group-hover/bar:opacity-100 group-focus-visible/bar:opacity-100",
            )}
          />
        )}
      </span>
      <span className="num relative text-right">
        {formatNumber(row.clicks)}
        <span className="sr-only"> {t.clicksWord(row.clicks)},</span>
      </span>
      <span className="num relative text-right text-12 text-text-3">{formatPercent(share)}</span>
    </>
  );
  if (!onPress)
    return (
      <div className={line} title={row.kind === "notItemised" ? t.notItemisedAbout : undefined}>
        {content}
      </div>
    );
  return (
    <button
      type="button"
      aria-pressed={isRest ? undefined : isOn}
      title={isRest ? undefined : t.hint}
      onClick={onPress}
      className={cx(line, "hover:bg-hover", isOn && "bg-hover")}
    >
      {content}
    </button>
  );
}

function nameOf(row: BarRow): string {
  if (row.kind === "value") return row.name;
  if (row.kind === "notItemised") return t.notItemised;
  return row.count === undefined ? t.otherPlain : t.other(formatNumber(row.count));
}
