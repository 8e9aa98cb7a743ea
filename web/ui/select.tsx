import ChevronDown from "lucide-react/icons/chevron-down";
import type { ComponentProps } from "react";
import { cx } from "./class-names.ts";
import { useFieldControl } from "./field.tsx";
import { bareClass, frameClass } from "./input.tsx";

export interface SelectOption {
  readonly value: string;
  readonly label: string;
  readonly disabled?: boolean | undefined;
}

interface SelectProps extends Omit<ComponentProps<"select">, "size" | "onChange" | "children"> {
  readonly options: readonly SelectOption[];
  readonly onValueChange?: ((value: string) => void) | undefined;
  /** md stands in forms (36 px), sm in bars (32 px), segment inside an `InputGroup`. */
  readonly look?: "md" | "sm" | "segment" | undefined;
}

/** The browser's own select: it works on every phone and with every screen reader. */
export function Select({ options, onValueChange, look = "md", className, ...rest }: SelectProps) {
  const control = useFieldControl(rest);
  const box = {
    md: cx(frameClass, "h-9 border-line-control max-sm:h-11"),
    sm: cx(frameClass, "h-8 border-line-strong max-sm:h-11"),
    segment: "flex h-full items-center",
  }[look];
  // In a group the field's label belongs to the input, so a segment brings its own.
  const ids = look === "segment" ? {} : control;
  return (
    <span data-box={look === "segment" ? undefined : ""} className={cx(box, "relative", className)}>
      <select
        {...rest}
        {...ids}
        onChange={(event) => onValueChange?.(event.target.value)}
        className={cx(
          bareClass,
          "h-full w-full appearance-none truncate rounded-2 pr-8 pl-2.5 [&>option]:bg-raised [&>option]:text-text",
          look === "sm" && "font-medium",
          look === "segment" && "[field-sizing:content]",
        )}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </select>
      <ChevronDown className="pointer-events-none absolute right-2.5 size-3.5 text-text-3" />
    </span>
  );
}
