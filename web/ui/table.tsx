import ArrowDown from "lucide-react/icons/arrow-down";
import ArrowUp from "lucide-react/icons/arrow-up";
import type { ComponentProps, CSSProperties, ReactNode } from "react";
import { Checkbox } from "./checkbox.tsx";
import { cx } from "./class-names.ts";

interface TableProps extends ComponentProps<"table"> {
  /** The accessible name. */
  readonly label: string;
  /** Widths in px; undefined shares what is left. The selection column is 38. */
  readonly columns?: readonly (ColumnWidth | WideColumn)[] | undefined;
  /** Something is selected: every row shows its checkbox. */
  readonly selecting?: boolean | undefined;
  /** Narrower than this it scrolls sideways inside its frame. On a phone it fits: give columns as `wide`. */
  readonly minWidthPx?: number | undefined;
}

type ColumnWidth = number | undefined;

/** Not on a phone, where the first cell says the same in a `PhoneLine`. Its cells are `wide` too. */
interface WideColumn {
  readonly wide: ColumnWidth;
}

const isWide = (column: ColumnWidth | WideColumn): column is WideColumn => typeof column === "object";

export function Table({ label, columns, selecting, minWidthPx, children, className, ...rest }: TableProps) {
  return (
    // `relative` keeps text for screen readers inside, which would widen the page otherwise.
    <div className="relative overflow-x-auto rounded-3 border border-line bg-surface">
      <table
        aria-label={label}
        data-selecting={selecting || undefined}
        {...rest}
        style={{ "--min": `${minWidthPx ?? 0}px` } as CSSProperties}
        className={cx(
          "group/table w-full table-fixed border-separate border-spacing-0",
          columns?.some(isWide) ? "sm:min-w-(--min)" : "min-w-(--min)",
          className,
        )}
      >
        {columns && (
          <colgroup>
            {columns.map((column, index) => (
              <col
                // biome-ignore lint/suspicious/noArrayIndexKey: a column has no other name
                key={index}
                style={{ width: isWide(column) ? column.wide : column }}
                className={isWide(column) ? wideClass : undefined}
              />
            ))}
          </colgroup>
        )}
        {children}
      </table>
    </div>
  );
}

export function TableHead({ children }: { readonly children: ReactNode }) {
  return (
    <thead>
      <tr>{children}</tr>
    </thead>
  );
}

export function TableBody({ children, ...rest }: ComponentProps<"tbody">) {
  return (
    <tbody {...rest} className="[&>tr:last-child>td]:border-b-0">
      {children}
    </tbody>
  );
}

interface HeadCellProps {
  readonly children?: ReactNode;
  /** end for numbers and times. */
  readonly align?: "start" | "end" | undefined;
  /** The current direction; false when sorted by another column. Leave out for columns that do not sort. */
  readonly sort?: "asc" | "desc" | false | undefined;
  readonly onSort?: (() => void) | undefined;
  readonly wide?: boolean | undefined;
  readonly className?: string | undefined;
}

/** On a phone a column for a button of 44 px has room for it. */
const edge = "first:pl-3.5 last:pr-3.5 max-sm:not-first:last:px-1.5";
const wideClass = "max-sm:hidden";

export function HeadCell({ children, align = "start", sort, onSort, wide, className }: HeadCellProps) {
  const Arrow = sort === "asc" ? ArrowUp : ArrowDown;
  return (
    <th
      scope="col"
      aria-sort={sort === "asc" ? "ascending" : sort === "desc" ? "descending" : undefined}
      className={cx(
        "h-[34px] border-b border-line px-2.5 text-12 font-medium whitespace-nowrap",
        edge,
        align === "end" ? "text-right" : "text-left",
        sort ? "text-text" : "text-text-3",
        wide && wideClass,
        className,
      )}
    >
      {onSort ? (
        <button
          type="button"
          onClick={onSort}
          className="group/sort inline-flex h-[26px] max-sm:h-11 items-center gap-[3px] rounded-1 align-middle hover:text-text"
        >
          {align === "start" && children}
          <Arrow
            className={cx(
              "size-3.5",
              !sort && "opacity-0 group-hover/sort:opacity-100 group-focus-visible/sort:opacity-100",
            )}
          />
          {align === "end" && children}
        </button>
      ) : (
        children
      )}
    </th>
  );
}

interface RowProps extends ComponentProps<"tr"> {
  readonly selected?: boolean | undefined;
  /** Where J and K are. */
  readonly current?: boolean | undefined;
}

export function Row({ selected, current, className, ...rest }: RowProps) {
  return (
    <tr
      aria-selected={selected}
      data-current={current || undefined}
      {...rest}
      className={cx(
        "group/row",
        selected ? "[&>td]:bg-selected" : current ? "[&>td]:bg-hover" : "hover:[&>td]:bg-hover",
        current && "[&>td:first-child]:shadow-[inset_2px_0_var(--accent)]",
        className,
      )}
    />
  );
}

interface CellProps extends Omit<ComponentProps<"td">, "align"> {
  readonly align?: "start" | "end" | undefined;
  /** text-2: destinations and times. */
  readonly muted?: boolean | undefined;
  readonly wide?: boolean | undefined;
}

/** One line, one truncation. Give the full value as `title`. */
export function Cell({ align = "start", muted, wide, className, ...rest }: CellProps) {
  return (
    <td
      {...rest}
      className={cx(
        "h-[42px] truncate border-b border-line px-2.5 transition-colors max-sm:py-1.5",
        edge,
        align === "end" && "num text-right",
        muted && "text-text-2",
        wide && wideClass,
        className,
      )}
    />
  );
}

/** Below the first cell on a phone: what columns say elsewhere. */
export function PhoneLine({ children }: { readonly children: ReactNode }) {
  return <span className="block truncate text-12 text-text-3 sm:hidden">{children}</span>;
}

interface SelectProps {
  readonly label: string;
  readonly checked: boolean;
  readonly indeterminate?: boolean | undefined;
  readonly onCheckedChange: (checked: boolean) => void;
}

/** Shown on hover, focus and touch, and in every row once one is selected. */
const reveal =
  "opacity-0 transition-opacity group-hover/row:opacity-100 group-focus-within/row:opacity-100 group-data-current/row:opacity-100 group-data-selecting/table:opacity-100 group-has-[thead:hover]/table:opacity-100 group-has-[thead_:focus-visible]/table:opacity-100 [@media(hover:none)]:opacity-100";

/** For the buttons of a row, which would be noise in rows that are not selected. */
export const revealInRowClass =
  "hidden group-hover/row:flex group-focus-within/row:flex group-data-current/row:flex [@media(hover:none)]:flex";

export function SelectHeadCell({ label, checked, indeterminate, onCheckedChange }: SelectProps) {
  return (
    <th scope="col" className="h-[34px] border-b border-line pl-3.5 text-left">
      <span className={cx("flex", reveal)}>
        <Checkbox
          aria-label={label}
          checked={checked}
          indeterminate={indeterminate}
          onCheckedChange={onCheckedChange}
        />
      </span>
    </th>
  );
}

export function SelectCell({ label, checked, onCheckedChange }: SelectProps) {
  return (
    <td className="h-[42px] border-b border-line pl-3.5 transition-colors">
      <span className={cx("flex", reveal)}>
        <Checkbox aria-label={label} checked={checked} onCheckedChange={onCheckedChange} />
      </span>
    </td>
  );
}

interface TableFootProps {
  /** "1–14 of 1,246". */
  readonly summary: ReactNode;
  /** Previous and Next. */
  readonly children?: ReactNode;
}

export function TableFoot({ summary, children }: TableFootProps) {
  return (
    <div className="flex items-center gap-2 pt-3 text-12 text-text-3">
      <span className="num mr-auto">{summary}</span>
      {children}
    </div>
  );
}
