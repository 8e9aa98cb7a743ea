import Eye from "lucide-react/icons/eye";
import EyeOff from "lucide-react/icons/eye-off";
import Search from "lucide-react/icons/search";
import X from "lucide-react/icons/x";
import { type ComponentProps, type ReactNode, useState } from "react";
import { Kbd } from "./chip.tsx";
import { cx } from "./class-names.ts";
import { useFieldControl } from "./field.tsx";
import type { Icon } from "./icon.ts";

/** The line around a control, with its focus and its error. Colour of the line and space inside come with it. */
export const frameClass =
  "flex min-w-0 items-center rounded-2 border bg-surface transition-[border-color,box-shadow] focus-within:border-focus focus-within:shadow-[0_0_0_3px_var(--accent-soft)] has-[[aria-invalid=true]]:border-bad has-[[aria-invalid=true]]:shadow-[0_0_0_3px_color-mix(in_srgb,var(--bad)_16%,transparent)] has-[:disabled]:bg-sunken has-[:disabled]:text-text-disabled [&>svg]:text-text-3";

/** The frame of a form's control. */
export const boxClass = cx(frameClass, "gap-2 border-line-control px-2.5");

/** The control inside the box. 16 px on phones, or they zoom in. */
export const bareClass =
  "min-w-0 flex-1 bg-transparent text-13 max-sm:text-16 outline-hidden placeholder:text-text-3 disabled:text-text-disabled";

const heights = { md: "h-9 max-sm:h-11", lg: "h-10 max-sm:h-11" } as const;

interface InputProps extends Omit<ComponentProps<"input">, "size" | "prefix"> {
  readonly icon?: Icon | undefined;
  /** Inside the box at the right: "a month", a state icon. */
  readonly suffix?: ReactNode;
  readonly size?: "md" | "lg" | undefined;
  /** Keys, DNS records, code. */
  readonly mono?: boolean | undefined;
}

export function Input({ icon: IconShape, suffix, size = "md", mono, className, ...rest }: InputProps) {
  const control = useFieldControl(rest);
  return (
    <span data-box="" className={cx(boxClass, heights[size], className)}>
      {IconShape && <IconShape />}
      <input type="text" {...rest} {...control} className={cx(bareClass, "h-full w-full", mono && "font-mono")} />
      {suffix !== undefined && <span className="flex-none whitespace-nowrap text-text-3">{suffix}</span>}
    </span>
  );
}

interface TextareaProps extends ComponentProps<"textarea"> {
  readonly mono?: boolean | undefined;
}

export function Textarea({ mono, className, rows = 3, ...rest }: TextareaProps) {
  const control = useFieldControl(rest);
  return (
    <span data-box="" className={cx(boxClass, className)}>
      <textarea
        rows={rows}
        {...rest}
        {...control}
        className={cx(bareClass, "block min-h-9 resize-y py-[7px]", mono && "font-mono")}
      />
    </span>
  );
}

interface PasswordInputProps extends Omit<InputProps, "type" | "suffix"> {
  readonly showLabel: string;
  readonly hideLabel: string;
}

export function PasswordInput({
  showLabel,
  hideLabel,
  size = "md",
  className,
  icon,
  mono,
  ...rest
}: PasswordInputProps) {
  const [isShown, setShown] = useState(false);
  const control = useFieldControl(rest);
  const IconShape = icon;
  const Toggle = isShown ? EyeOff : Eye;
  return (
    <span data-box="" className={cx(boxClass, "pr-0", heights[size], className)}>
      {IconShape && <IconShape />}
      <input
        autoComplete="current-password"
        {...rest}
        {...control}
        type={isShown ? "text" : "password"}
        spellCheck={false}
        autoCapitalize="off"
        className={cx(bareClass, "h-full w-full", mono && "font-mono")}
      />
      <button
        type="button"
        aria-label={isShown ? hideLabel : showLabel}
        onClick={() => setShown(!isShown)}
        className="grid h-full w-9 max-sm:w-11 flex-none place-items-center rounded-2 text-text-3 hover:text-text focus-visible:-outline-offset-2"
      >
        <Toggle />
      </button>
    </span>
  );
}

interface InputGroupProps {
  /** Segments on a sunken ground: "al.example/", or a `Select segment`. */
  readonly prefix?: ReactNode;
  readonly suffix?: ReactNode;
  readonly children: ReactNode;
}

/** An input with segments joined to it. */
export function InputGroup({ prefix, suffix, children }: InputGroupProps) {
  return (
    <div
      className={cx(
        "flex min-w-0 [&>[data-box]]:flex-1",
        prefix !== undefined && "[&>[data-box]]:rounded-l-none",
        suffix !== undefined && "[&>[data-box]]:rounded-r-none",
      )}
    >
      {prefix !== undefined && <Segment className="rounded-l-2 border-r-0">{prefix}</Segment>}
      {children}
      {suffix !== undefined && <Segment className="rounded-r-2 border-l-0">{suffix}</Segment>}
    </div>
  );
}

function Segment({ className, children }: { readonly className: string; readonly children: ReactNode }) {
  return (
    <span
      className={cx(
        "flex max-w-[50%] flex-none items-center gap-1.5 border border-line-control bg-sunken text-text-2 max-sm:text-16",
        "has-[select:focus-visible]:outline-2 has-[select:focus-visible]:outline-focus",
        className,
      )}
    >
      {typeof children === "string" ? <span className="truncate px-2.5">{children}</span> : children}
    </span>
  );
}

interface SearchInputProps extends Omit<ComponentProps<"input">, "size" | "type" | "value" | "onChange"> {
  readonly label: string;
  readonly clearLabel: string;
  readonly value: string;
  readonly onValueChange: (value: string) => void;
  /** The key that focuses it, shown while it is empty. */
  readonly kbd?: string | undefined;
}

/** 32 px high and quieter than the inputs of a form: it stands in bars. */
export function SearchInput(props: SearchInputProps) {
  const { label, clearLabel, value, onValueChange, kbd, className, ...rest } = props;
  return (
    <search className={cx(frameClass, "h-8 gap-2 border-line-strong pr-1 pl-2.5 max-sm:h-11", className)}>
      <Search />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        {...rest}
        value={value}
        onChange={(event) => onValueChange(event.target.value)}
        className={cx(bareClass, "h-full w-full [&::-webkit-search-cancel-button]:hidden")}
      />
      {value !== "" ? (
        <button
          type="button"
          aria-label={clearLabel}
          onClick={() => onValueChange("")}
          className="grid size-6 max-sm:h-full max-sm:w-10 flex-none place-items-center rounded-1 text-text-3 hover:text-text"
        >
          <X className="size-3.5" />
        </button>
      ) : (
        kbd && (
          <span aria-hidden="true" className="mr-1 inline-flex max-sm:hidden">
            <Kbd>{kbd}</Kbd>
          </span>
        )
      )}
    </search>
  );
}
