import Check from "lucide-react/icons/check";
import Minus from "lucide-react/icons/minus";
import { type ComponentProps, type ReactNode, useEffect, useId, useRef } from "react";
import { cx } from "./class-names.ts";
import { useFieldControl } from "./field.tsx";
import type { Icon } from "./icon.ts";

interface CheckboxProps extends Omit<ComponentProps<"input">, "type" | "onChange" | "ref"> {
  /** Beside the box. Without it give `aria-label`. */
  readonly label?: ReactNode;
  /** Second line under the label. */
  readonly description?: ReactNode;
  readonly indeterminate?: boolean | undefined;
  readonly onCheckedChange?: ((checked: boolean) => void) | undefined;
}

const box =
  "peer col-start-1 row-start-1 size-3.5 appearance-none rounded-1 border border-line-control bg-surface transition-colors checked:border-accent checked:bg-accent indeterminate:border-accent indeterminate:bg-accent disabled:border-line-strong disabled:bg-sunken";
const mark =
  "pointer-events-none col-start-1 row-start-1 m-px size-3 stroke-3 text-surface peer-disabled:text-text-disabled";

/** The browser's checkbox. The label around it is the target, 44 px on phones. */
export function Checkbox(props: CheckboxProps) {
  const { label, description, indeterminate = false, onCheckedChange, className, ...rest } = props;
  const input = useRef<HTMLInputElement>(null);
  const descriptionId = useId();
  useEffect(() => {
    if (input.current) input.current.indeterminate = indeterminate;
  }, [indeterminate]);
  const isBare = label === undefined;
  return (
    <label
      className={cx(
        "inline-flex gap-2 has-[:disabled]:text-text-disabled",
        isBare ? "max-sm:-m-[15px] max-sm:p-[15px]" : "max-sm:min-h-11 max-sm:items-center max-sm:py-2",
        className,
      )}
    >
      <span className={cx("grid flex-none", !isBare && "mt-[3px] max-sm:mt-0")}>
        <input
          {...rest}
          ref={input}
          type="checkbox"
          aria-describedby={description ? descriptionId : rest["aria-describedby"]}
          onChange={(event) => onCheckedChange?.(event.target.checked)}
          className={box}
        />
        {indeterminate ? <Minus className={mark} /> : <Check className={cx(mark, "hidden peer-checked:block")} />}
      </span>
      {!isBare && <LabelText label={label} description={description} descriptionId={descriptionId} />}
    </label>
  );
}

interface LabelTextProps {
  readonly label: ReactNode;
  readonly description: ReactNode;
  readonly descriptionId: string;
}

function LabelText({ label, description, descriptionId }: LabelTextProps) {
  return (
    <span className="min-w-0">
      {label}
      {description && (
        <span id={descriptionId} className="block text-12 text-text-3">
          {description}
        </span>
      )}
    </span>
  );
}

interface SwitchProps extends Omit<ComponentProps<"input">, "type" | "role" | "onChange"> {
  readonly label: ReactNode;
  readonly description?: ReactNode;
  readonly onCheckedChange?: ((checked: boolean) => void) | undefined;
}

/** A checkbox that takes effect at once. Label left, switch right. */
export function Switch({ label, description, onCheckedChange, className, ...rest }: SwitchProps) {
  const descriptionId = useId();
  return (
    <label
      className={cx(
        "flex items-start justify-between gap-4 has-[:disabled]:text-text-disabled max-sm:min-h-11 max-sm:items-center",
        className,
      )}
    >
      <LabelText
        label={<span className="font-medium">{label}</span>}
        description={description}
        descriptionId={descriptionId}
      />
      <span className="relative mt-px grid flex-none">
        <input
          {...rest}
          type="checkbox"
          // biome-ignore lint/a11y/useAriaPropsForRole: the browser says whether a checkbox is checked
          role="switch"
          aria-describedby={description ? descriptionId : undefined}
          onChange={(event) => onCheckedChange?.(event.target.checked)}
          className="peer h-[18px] w-8 appearance-none rounded-full bg-line-control transition-colors checked:bg-accent disabled:bg-line-strong"
        />
        <span className="pointer-events-none absolute top-0.5 left-0.5 size-3.5 rounded-full bg-surface transition-transform peer-checked:translate-x-3.5" />
      </span>
    </label>
  );
}

export interface RadioCardOption<T extends string> {
  readonly value: T;
  readonly label: ReactNode;
  readonly description?: ReactNode;
  readonly icon?: Icon | undefined;
  readonly disabled?: boolean | undefined;
}

interface RadioCardsProps<T extends string> {
  /** The accessible name of the group; inside a `FieldSet` the legend says it already. */
  readonly label?: string | undefined;
  readonly value: T | undefined;
  readonly onValueChange: (value: T) => void;
  readonly options: readonly RadioCardOption<T>[];
  readonly columns?: 1 | 2 | 3 | undefined;
}

/** A choice whose options need a sentence each. */
export function RadioCards<T extends string>({
  label,
  value,
  onValueChange,
  options,
  columns = 1,
}: RadioCardsProps<T>) {
  const name = useId();
  const grid = { 1: "grid-cols-1", 2: "sm:grid-cols-2", 3: "sm:grid-cols-3" }[columns];
  const { id: _id, ...field } = useFieldControl({});
  return (
    <div role="radiogroup" aria-label={label} {...field} className={cx("grid gap-2", grid)}>
      {options.map((option) => (
        <label
          key={option.value}
          className="flex items-start gap-2.5 rounded-2 border border-line-strong bg-surface p-3 transition-colors hover:bg-hover has-[:checked]:border-accent has-[:checked]:bg-selected has-[:disabled]:text-text-disabled has-[:focus-visible]:outline-2 has-[:focus-visible]:outline-offset-2 has-[:focus-visible]:outline-focus"
        >
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            disabled={option.disabled}
            onChange={() => onValueChange(option.value)}
            className="mt-[3px] size-3.5 flex-none appearance-none rounded-full border border-line-control bg-surface outline-hidden checked:border-4 checked:border-accent"
          />
          <span className="min-w-0 flex-1">
            <span className="font-medium">{option.label}</span>
            {option.description && (
              <span className={cx("block text-12", !option.disabled && "text-text-2")}>{option.description}</span>
            )}
          </span>
          {option.icon && <option.icon className="text-text-3" />}
        </label>
      ))}
    </div>
  );
}
