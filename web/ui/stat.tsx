import type { ReactNode } from "react";
import { cx } from "./class-names.ts";
import type { Icon } from "./icon.ts";

interface StatProps {
  readonly label: ReactNode;
  readonly icon?: Icon | undefined;
  /** Already formatted. */
  readonly value: ReactNode;
  /** "+23.4%". */
  readonly change?: string | undefined;
  /** up is green; down stays grey, for less is not always worse. */
  readonly direction?: "up" | "down" | undefined;
  /** After the change: "from 6,817". */
  readonly remark?: ReactNode;
  /** On a sunken ground: not in any other figure. */
  readonly apart?: boolean | undefined;
}

/** One key figure, inside `StatRow`. */
export function Stat({ label, icon: IconShape, value, change, direction, remark, apart }: StatProps) {
  return (
    <div className={cx("min-w-0 px-4 pt-3.5 pb-3", apart ? "bg-sunken" : "bg-surface")}>
      <dt className="flex items-center gap-1.5 text-12 text-text-2">
        {IconShape && <IconShape className="size-3.5" />}
        {label}
      </dt>
      <dd className={cx("num my-0.5 text-24 tracking-[-.015em]", apart ? "font-medium text-text-2" : "font-semibold")}>
        {value}
      </dd>
      <dd className="num truncate text-12 text-text-3">
        {change && <span className={cx("font-medium", direction === "up" ? "text-ok" : "text-text-2")}>{change} </span>}
        {remark}
      </dd>
    </div>
  );
}

interface StatRowProps {
  readonly children: ReactNode;
  readonly columns?: 2 | 3 | 4 | undefined;
  readonly className?: string | undefined;
}

/** Key figures side by side with hairlines between them; two a line on a phone. Put it at the top of a `Card`. */
export function StatRow({ children, columns = 4, className }: StatRowProps) {
  const grid = { 2: "sm:grid-cols-2", 3: "sm:grid-cols-3", 4: "sm:grid-cols-4" }[columns];
  return (
    <dl
      className={cx(
        "grid grid-cols-2 gap-px overflow-hidden rounded-t-[7px] bg-line last:rounded-b-[7px]",
        grid,
        className,
      )}
    >
      {children}
    </dl>
  );
}
