import { type ReactNode, useCallback, useState } from "react";
import { LateTrigger, late } from "./late.tsx";
import type { MenuCheckItemProps, MenuItemProps, MenuProps, MenuRadioProps } from "./menu-parts.tsx";

const menu = late(() => import("./menu-parts.tsx"));

/** A menu behind a button. Its parts are loaded with the first press of any menu. */
export function Menu(props: MenuProps) {
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
  const parts = menu.parts();
  if (opened === undefined || parts === undefined) {
    return <LateTrigger trigger={props.trigger} kind="menu" isOpen={open} late={menu} onReady={onReady} />;
  }
  return <parts.Menu defaultOpen={opened === "mouse"} pressOnce={opened === "keyboard"} {...props} />;
}

// The children of a menu are shown only after it was loaded.

export function MenuItem(props: MenuItemProps) {
  const parts = menu.parts();
  return parts && <parts.MenuItem {...props} />;
}

export function MenuCheckItem(props: MenuCheckItemProps) {
  const parts = menu.parts();
  return parts && <parts.MenuCheckItem {...props} />;
}

export function MenuRadio<T extends string>(props: MenuRadioProps<T>) {
  const parts = menu.parts();
  return parts && <parts.MenuRadio {...props} />;
}

export function MenuGroup(props: { readonly label: string; readonly children: ReactNode }) {
  const parts = menu.parts();
  return parts && <parts.MenuGroup {...props} />;
}

export function MenuSeparator() {
  const parts = menu.parts();
  return parts && <parts.MenuSeparator />;
}
