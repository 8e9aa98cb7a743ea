import { Tabs as Base } from "@base-ui/react/tabs";
import { type ReactNode, useId } from "react";
import { cx } from "./class-names.ts";

export interface TabOption<T extends string> {
  readonly value: T;
  readonly label: ReactNode;
  /** Already formatted. */
  readonly count?: string | undefined;
}

const tab =
  "-mb-px inline-flex h-9 max-sm:h-11 items-center gap-1.5 border-b-2 px-0.5 whitespace-nowrap transition-colors focus-visible:-outline-offset-2";

/** For `<Link>`s that act as tabs; the nav around them is `tabBarClass`. */
export function tabClass(isActive: boolean): string {
  return cx(tab, isActive ? "border-text font-medium text-text" : "border-transparent text-text-2 hover:text-text");
}

export const tabBarClass = "flex gap-5 overflow-x-auto border-b border-line";

/** On the bar of tabs: where they do not all fit, the chosen one is in view. */
export function showChosenTab(bar: HTMLElement | null): void {
  const chosen = bar?.querySelector<HTMLElement>("[aria-current=page], [aria-selected=true]");
  if (bar && chosen) bar.scrollLeft = chosen.offsetLeft - (bar.clientWidth - chosen.offsetWidth) / 2;
}

interface TabsProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly onValueChange: (value: T) => void;
  readonly options: readonly TabOption<T>[];
  /** The panel of the chosen tab. */
  readonly children: ReactNode;
}

/** Underlined tabs over one panel. */
export function Tabs<T extends string>({ label, value, onValueChange, options, children }: TabsProps<T>) {
  return (
    <Base.Root value={value} onValueChange={(next: T) => onValueChange(next)}>
      <Base.List ref={showChosenTab} aria-label={label} activateOnFocus className={tabBarClass}>
        {options.map((option) => (
          <Base.Tab key={option.value} value={option.value} className={tabClass(option.value === value)}>
            {option.label}
            {option.count !== undefined && <span className="num text-12 font-normal text-text-3">{option.count}</span>}
          </Base.Tab>
        ))}
      </Base.List>
      {options.map((option) => (
        <Base.Panel key={option.value} value={option.value} className="rounded-1 pt-4 data-ending-style:hidden">
          {option.value === value && children}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}

interface SegmentedProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly onValueChange: (value: T) => void;
  readonly options: readonly TabOption<T>[];
  /** text has no ground, as in the titles of cards. */
  readonly look?: "filled" | "text" | undefined;
}

/** One of a few, shown side by side: Hour, Day, Week. */
export function Segmented<T extends string>({
  label,
  value,
  onValueChange,
  options,
  look = "filled",
}: SegmentedProps<T>) {
  const name = useId();
  const shape =
    look === "filled" ? "px-2 py-0.5 has-[:checked]:bg-pressed hover:text-text" : "px-1 py-0.5 hover:text-text";
  return (
    <div
      role="radiogroup"
      aria-label={label}
      className="flex gap-0.5 text-12 text-text-3 max-sm:min-h-11 max-sm:items-center"
    >
      {options.map((option) => (
        <label
          key={option.value}
          className={cx(
            "touch relative inline-flex cursor-pointer items-center gap-1.5 rounded-1 whitespace-nowrap transition-colors max-sm:min-h-8 max-sm:rounded-2 max-sm:px-2 max-sm:text-13",
            "has-[:checked]:font-medium has-[:checked]:text-text has-[:focus-visible]:outline-2 has-[:focus-visible]:outline-focus",
            shape,
          )}
        >
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onValueChange(option.value)}
            className="absolute inset-0 size-full cursor-pointer appearance-none outline-hidden"
          />
          {option.label}
          {option.count !== undefined && <span className="num font-normal text-text-3">{option.count}</span>}
        </label>
      ))}
    </div>
  );
}
