import { Popover as Base } from "@base-ui/react/popover";
import type { ReactElement, ReactNode } from "react";
import { cx } from "./class-names.ts";
import { useTakeOver } from "./late.tsx";
import { popupClass, popupEdgePx, popupGapPx, popupMark } from "./popup.ts";

export interface PopoverProps {
  readonly trigger: ReactElement;
  /** The accessible name. */
  readonly label: string;
  readonly open?: boolean | undefined;
  readonly onOpenChange?: ((open: boolean) => void) | undefined;
  /** Opened by the click that loaded it. */
  readonly defaultOpen?: boolean | undefined;
  /** Opened by the key that loaded it. */
  readonly pressOnce?: boolean | undefined;
  readonly align?: "start" | "center" | "end" | undefined;
  readonly side?: "top" | "bottom" | "left" | "right" | undefined;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

export function Popover(props: PopoverProps) {
  const {
    trigger,
    label,
    open,
    onOpenChange,
    defaultOpen,
    pressOnce,
    align = "start",
    side = "bottom",
    className,
    children,
  } = props;
  const button = useTakeOver(pressOnce);
  return (
    <Base.Root open={open} defaultOpen={defaultOpen} onOpenChange={onOpenChange}>
      <Base.Trigger ref={button} render={trigger} />
      <Base.Portal>
        <Base.Positioner
          align={align}
          side={side}
          // Above a bar, clear of its edge.
          sideOffset={side === "top" ? 2 * popupEdgePx : popupGapPx}
          collisionPadding={popupEdgePx}
          className="z-50 outline-hidden"
        >
          <Base.Popup
            {...popupMark}
            aria-label={label}
            className={cx(popupClass, "max-h-(--available-height) min-w-48 overflow-y-auto p-3", className)}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** Closes the popover it is in: `<PopoverClose render={<Button>Apply</Button>} />`. */
export function PopoverClose({ render }: { readonly render: ReactElement }) {
  return <Base.Close render={render} />;
}
