import { cx } from "./class-names.ts";

/** The look of buttons, apart from their behaviour: pages for visitors do without tooltips. */
export type ButtonVariant = "primary" | "secondary" | "quiet" | "danger" | "destructive";
export type ButtonSize = "sm" | "md" | "lg";

export interface ButtonLook {
  readonly variant?: ButtonVariant | undefined;
  readonly size?: ButtonSize | undefined;
  /** As wide as what is around it. */
  readonly block?: boolean | undefined;
  readonly className?: string | undefined;
}

export const buttonVariants = {
  primary: "border-ink bg-ink text-on-ink shadow-1 hover:border-ink-hover hover:bg-ink-hover",
  secondary: "border-line-strong bg-button text-text shadow-1 hover:bg-hover active:bg-pressed [&>svg]:text-text-2",
  quiet: "border-transparent text-text-2 hover:bg-hover hover:text-text active:bg-pressed",
  /** Quiet until chosen. */
  danger: "border-transparent text-bad hover:bg-bad-soft active:bg-bad-soft",
  /** The last step of what cannot be undone. */
  destructive: "border-bad bg-bad text-surface shadow-1 hover:opacity-90",
} as const;

export const buttonBase =
  "relative inline-flex items-center justify-center gap-1.5 border font-medium whitespace-nowrap select-none transition-colors disabled:pointer-events-none disabled:opacity-50 aria-disabled:cursor-default aria-disabled:not-aria-busy:opacity-50";

const sizes = {
  sm: "h-[26px] rounded-2 px-2 text-12 [&>svg]:size-3.5",
  md: "h-8 rounded-2 px-3 text-13",
  lg: "h-11 rounded-2 px-4 text-14",
} as const;

/** For links that look like buttons: `<Link className={buttonClass({ variant: "primary" })}>`. */
export function buttonClass({ variant = "secondary", size = "md", block, className }: ButtonLook = {}): string {
  const touch = "max-sm:min-h-11 max-sm:text-14 max-sm:min-w-11";
  return cx(
    buttonBase,
    buttonVariants[variant],
    sizes[size],
    touch,
    "[&>svg:first-child]:-ml-0.5",
    block && "w-full",
    className,
  );
}
