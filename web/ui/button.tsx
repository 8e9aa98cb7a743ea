import LoaderCircle from "lucide-react/icons/loader-circle";
import { type ComponentProps, type MouseEvent, useContext } from "react";
import {
  type ButtonLook,
  type ButtonSize,
  type ButtonVariant,
  buttonBase,
  buttonClass,
  buttonVariants,
} from "./button-class.ts";
import { Kbd } from "./chip.tsx";
import { cx } from "./class-names.ts";
import type { Icon } from "./icon.ts";
import { OfflineReason } from "./offline.ts";
import { Tooltip } from "./tooltip.tsx";

export { type ButtonSize, type ButtonVariant, buttonClass } from "./button-class.ts";

interface ButtonProps extends Omit<ComponentProps<"button">, "className">, ButtonLook {
  readonly icon?: Icon | undefined;
  readonly iconEnd?: Icon | undefined;
  /** The key that does the same. Shown, not bound. */
  readonly kbd?: string | undefined;
  /**
   * Keeps its width and takes no click. A button that may load asks the server for something, and so does one that submits a form:
   * without a connection they are disabled and say why.
   */
  readonly loading?: boolean | undefined;
  /** Disabled for a reason, which the tooltip says. The button keeps its focus. */
  readonly disabledReason?: string | undefined;
}

export function Button(props: ButtonProps) {
  const { variant = "secondary", size, block, className, icon: IconStart, iconEnd: IconEnd, kbd, loading } = props;
  const { disabledReason, children, onClick, ...rest } = omitLook(props);
  const asksServer = loading !== undefined || rest.type === "submit";
  const offline = useContext(OfflineReason);
  const reason = disabledReason ?? (asksServer ? offline : undefined);
  const isBlocked = loading || reason !== undefined;
  // Invisible, but still the name of the button.
  const hidden = loading ? "opacity-0" : undefined;
  const button = (
    <button
      type="button"
      {...rest}
      aria-busy={loading || undefined}
      aria-disabled={isBlocked || undefined}
      onClick={isBlocked ? prevent : onClick}
      className={buttonClass({ variant, size, block, className })}
    >
      {IconStart && <IconStart className={hidden} />}
      <span className={cx("truncate", hidden)}>{children}</span>
      {IconEnd && <IconEnd className={hidden} />}
      {kbd && (
        <span aria-hidden="true" className={cx("-mr-1 inline-flex max-sm:hidden", hidden)}>
          <Kbd onInk={variant === "primary"}>{kbd}</Kbd>
        </span>
      )}
      {loading && (
        <span className="absolute inset-0 grid place-items-center">
          <LoaderCircle className="animate-spin motion-reduce:animate-none" />
        </span>
      )}
    </button>
  );
  if (!asksServer && disabledReason === undefined) return button;
  // Around it before there is a reason, so that the button keeps its focus when the connection is lost.
  return (
    <Tooltip text={reason} onPress>
      {button}
    </Tooltip>
  );
}

function prevent(event: MouseEvent): void {
  event.preventDefault();
}

function omitLook(props: ButtonProps) {
  const { variant, size, block, className, icon, iconEnd, kbd, loading, ...rest } = props;
  return rest;
}

interface IconButtonProps extends Omit<ComponentProps<"button">, "children"> {
  readonly icon: Icon;
  /** The accessible name, also shown as a tooltip. */
  readonly label: string;
  readonly shortcut?: string | undefined;
  readonly variant?: ButtonVariant | undefined;
  /** xs is 24 px, for rows. */
  readonly size?: "xs" | ButtonSize | undefined;
  readonly tooltipSide?: "top" | "bottom" | "left" | "right" | undefined;
}

export function IconButton(props: IconButtonProps) {
  const { icon: IconShape, label, shortcut, variant = "quiet", size = "md", tooltipSide, className, ...rest } = props;
  const square = {
    xs: "size-6 rounded-1",
    sm: "size-[26px] rounded-2",
    md: "size-8 rounded-2",
    lg: "size-11 rounded-2",
  };
  return (
    <Tooltip text={label} shortcut={shortcut} side={tooltipSide} isLabel>
      <button
        type="button"
        aria-label={label}
        {...rest}
        className={cx(buttonBase, buttonVariants[variant], square[size], "max-sm:size-11 flex-none", className)}
      >
        <IconShape className={size === "xs" || size === "sm" ? "size-3.5" : "size-4"} />
      </button>
    </Tooltip>
  );
}
