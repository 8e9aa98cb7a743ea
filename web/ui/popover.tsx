import { type ReactElement, useCallback, useState } from "react";
import { LateTrigger, late } from "./late.tsx";
import type { PopoverProps } from "./popover-parts.tsx";

const popover = late(() => import("./popover-parts.tsx"));

/** A small window behind a button. Its parts are loaded with the first press of any popover. */
export function Popover(props: PopoverProps) {
  const [opened, setOpened] = useState<"mouse" | "keyboard">();
  const { open, onOpenChange } = props;
  const onReady = useCallback(
    (isByKeyboard: boolean) => {
      const isPressedAgain = isByKeyboard && open !== true;
      setOpened(isPressedAgain ? "keyboard" : "mouse");
      if (open !== true && !isPressedAgain) onOpenChange?.(true);
    },
    [open, onOpenChange],
  );
  const parts = popover.parts();
  if (opened === undefined || parts === undefined) {
    return <LateTrigger trigger={props.trigger} kind="dialog" isOpen={open} late={popover} onReady={onReady} />;
  }
  return <parts.Popover defaultOpen={opened === "mouse"} pressOnce={opened === "keyboard"} {...props} />;
}

/** Closes the popover it is in: `<PopoverClose render={<Button>Apply</Button>} />`. */
export function PopoverClose(props: { readonly render: ReactElement }) {
  const parts = popover.parts();
  return parts && <parts.PopoverClose {...props} />;
}
