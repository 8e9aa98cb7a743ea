import CalendarDays from "lucide-react/icons/calendar";
import Clock from "lucide-react/icons/clock";
import type { ComponentProps } from "react";
import { cx } from "./class-names.ts";
import { useFieldControl } from "./field.tsx";
import { bareClass, boxClass } from "./input.tsx";

interface DateFieldProps extends Omit<ComponentProps<"input">, "type" | "onChange" | "value"> {
  readonly kind?: "datetime-local" | "date" | "time" | "month" | undefined;
  /** Local time as the browser writes it: "2027-11-16T23:59". Empty when not set. */
  readonly value: string;
  readonly onValueChange: (value: string) => void;
}

/** Without it, Chromium takes years of six digits. */
const latest = { "datetime-local": "9999-12-31T23:59", date: "9999-12-31", time: undefined, month: "9999-12" } as const;

/** The browser's own picker, opened by our icon: in the reader's language, by keyboard and by touch. */
export function DateField({ kind = "datetime-local", onValueChange, className, ...rest }: DateFieldProps) {
  const control = useFieldControl(rest);
  const IconShape = kind === "time" ? Clock : CalendarDays;
  return (
    <span data-box="" className={cx(boxClass, "relative h-9 max-sm:h-11", className)}>
      <IconShape />
      <input
        {...rest}
        {...control}
        type={kind}
        max={rest.max ?? latest[kind]}
        onChange={(event) => onValueChange(event.target.value)}
        className={cx(
          bareClass,
          // Not set: what the browser shows is how to write it, like a placeholder.
          rest.value === "" && "text-text-3 focus:text-text",
          "num h-full w-full [&::-webkit-calendar-picker-indicator]:absolute [&::-webkit-calendar-picker-indicator]:inset-y-0 [&::-webkit-calendar-picker-indicator]:left-0 [&::-webkit-calendar-picker-indicator]:h-full [&::-webkit-calendar-picker-indicator]:w-9 [&::-webkit-calendar-picker-indicator]:opacity-0",
        )}
      />
    </span>
  );
}
