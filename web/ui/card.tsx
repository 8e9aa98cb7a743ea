import type { ComponentProps, ReactNode } from "react";
import { cx } from "./class-names.ts";

interface CardProps extends ComponentProps<"section"> {
  /** Space inside. Tables and lists bring their own. */
  readonly padded?: boolean | undefined;
  /** Files can be dropped on it. */
  readonly drop?: boolean | undefined;
}

/** A line and no shadow. Never a card in a card. */
export function Card({ padded, drop, className, ...rest }: CardProps) {
  const line = drop ? "border-dashed border-line-control" : "border-line";
  return <section {...rest} className={cx("min-w-0 rounded-3 border bg-surface", line, padded && "p-4", className)} />;
}

interface CardTitleProps {
  readonly children: ReactNode;
  /** Right: tabs, a link, a figure. */
  readonly actions?: ReactNode;
  readonly id?: string | undefined;
  readonly className?: string | undefined;
}

/** 42 px high, at the top of a card without padding. */
export function CardTitle({ children, actions, id, className }: CardTitleProps) {
  return (
    <div className={cx("flex min-h-[42px] flex-wrap items-center gap-x-2 px-3.5", className)}>
      <h2 id={id} className="flex min-w-0 items-center gap-2 font-semibold">
        {children}
      </h2>
      {actions && <div className="ml-auto flex max-w-full flex-wrap items-center gap-x-2 text-text-3">{actions}</div>}
    </div>
  );
}

interface SectionProps {
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  /** In red: what cannot be undone. */
  readonly danger?: boolean | undefined;
  readonly children?: ReactNode;
}

/** A titled card of a settings page: title, sentence, content, save button in `actions`. */
export function Section({ title, description, actions, danger, children }: SectionProps) {
  return (
    <section className={cx("min-w-0 rounded-3 border bg-surface", danger ? "border-bad" : "border-line")}>
      <div className="grid gap-4 p-4 sm:p-5">
        <div>
          <h2 className="text-14 font-semibold">{title}</h2>
          {description && <p className="mt-1 text-text-2">{description}</p>}
        </div>
        {children}
      </div>
      {actions && (
        <footer className="flex flex-wrap items-center justify-end gap-2 rounded-b-3 border-t border-line bg-sunken px-4 py-2.5 sm:px-5">
          {actions}
        </footer>
      )}
    </section>
  );
}
