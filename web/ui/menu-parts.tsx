import { Menu as Base } from "@base-ui/react/menu";
import Check from "lucide-react/icons/check";
import type { ReactElement, ReactNode } from "react";
import { Kbd } from "./chip.tsx";
import { cx } from "./class-names.ts";
import type { Icon } from "./icon.ts";
import { useTakeOver } from "./late.tsx";
import { popupClass, popupDangerClass, popupEdgePx, popupGapPx, popupItemClass, popupMark } from "./popup.ts";

export interface MenuProps {
  /** A `Button` or `IconButton`. */
  readonly trigger: ReactElement;
  readonly align?: "start" | "center" | "end" | undefined;
  readonly side?: "top" | "bottom" | undefined;
  readonly open?: boolean | undefined;
  readonly onOpenChange?: ((open: boolean) => void) | undefined;
  /** Opened by the click that loaded it. */
  readonly defaultOpen?: boolean | undefined;
  /** Opened by the key that loaded it. */
  readonly pressOnce?: boolean | undefined;
  readonly children: ReactNode;
}

export function Menu(props: MenuProps) {
  const { trigger, align = "end", side = "bottom", open, onOpenChange, defaultOpen, pressOnce, children } = props;
  const button = useTakeOver(pressOnce);
  return (
    <Base.Root open={open} defaultOpen={defaultOpen} onOpenChange={onOpenChange} modal={false}>
      <Base.Trigger ref={button} render={trigger} />
      <Base.Portal>
        <Base.Positioner
          align={align}
          side={side}
          sideOffset={popupGapPx}
          collisionPadding={popupEdgePx}
          className="z-50 outline-hidden"
        >
          <Base.Popup
            {...popupMark}
            className={cx(
              popupClass,
              "max-h-(--available-height) min-w-[max(11rem,var(--anchor-width))] overflow-y-auto p-1",
            )}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export interface MenuItemProps {
  readonly icon?: Icon | undefined;
  readonly shortcut?: string | undefined;
  readonly danger?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  readonly onSelect?: (() => void) | undefined;
  /** A link instead of an action: `<Link to="…" />`. */
  readonly link?: ReactElement | undefined;
  /** It leads to where one is. */
  readonly isCurrent?: boolean | undefined;
  readonly children: ReactNode;
}

export function MenuItem(props: MenuItemProps) {
  const { icon: IconShape, shortcut, danger, disabled, onSelect, link, isCurrent, children } = props;
  const className = danger ? popupDangerClass : popupItemClass;
  const content = (
    <>
      {IconShape && <IconShape />}
      <span className="flex-1 truncate">{children}</span>
      {isCurrent && <Check className="size-3.5" />}
      {shortcut && (
        <span aria-hidden="true" className="ml-4 inline-flex max-sm:hidden">
          <Kbd>{shortcut}</Kbd>
        </span>
      )}
    </>
  );
  if (link)
    return (
      <Base.LinkItem
        render={link}
        closeOnClick
        className={className}
        onClick={onSelect}
        aria-current={isCurrent || undefined}
      >
        {content}
      </Base.LinkItem>
    );
  return (
    <Base.Item disabled={disabled} onClick={onSelect} className={className}>
      {content}
    </Base.Item>
  );
}

export interface MenuCheckItemProps {
  readonly checked: boolean;
  readonly onCheckedChange: (checked: boolean) => void;
  readonly disabled?: boolean | undefined;
  readonly children: ReactNode;
}

/** Stays open: for columns and other sets. */
export function MenuCheckItem({ checked, onCheckedChange, disabled, children }: MenuCheckItemProps) {
  return (
    <Base.CheckboxItem
      checked={checked}
      onCheckedChange={onCheckedChange}
      disabled={disabled}
      className={popupItemClass}
    >
      <Mark>
        <Base.CheckboxItemIndicator>
          <Check className="size-3.5" />
        </Base.CheckboxItemIndicator>
      </Mark>
      <span className="flex-1 truncate">{children}</span>
    </Base.CheckboxItem>
  );
}

export interface MenuRadioProps<T extends string> {
  readonly label?: string | undefined;
  readonly value: T;
  readonly onValueChange: (value: T) => void;
  readonly options: readonly { readonly value: T; readonly label: ReactNode }[];
}

/** One of several, closing on choice: a period, a sort order, a workspace. */
export function MenuRadio<T extends string>({ label, value, onValueChange, options }: MenuRadioProps<T>) {
  return (
    <Base.RadioGroup value={value} onValueChange={onValueChange} aria-label={label}>
      {label && <GroupLabel>{label}</GroupLabel>}
      {options.map((option) => (
        <Base.RadioItem key={option.value} value={option.value} closeOnClick className={popupItemClass}>
          <Mark>
            <Base.RadioItemIndicator>
              <Check className="size-3.5" />
            </Base.RadioItemIndicator>
          </Mark>
          <span className="flex-1 truncate first-letter:uppercase">{option.label}</span>
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  );
}

export function MenuGroup({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <Base.Group>
      <Base.GroupLabel render={<GroupLabel>{label}</GroupLabel>} />
      {children}
    </Base.Group>
  );
}

export function MenuSeparator() {
  return <Base.Separator className="-mx-1 my-1 h-px bg-line" />;
}

function GroupLabel({ children, ...rest }: { readonly children?: ReactNode }) {
  return (
    <div {...rest} className="px-2 pt-1.5 pb-1 text-12 text-text-3">
      {children}
    </div>
  );
}

function Mark({ children }: { readonly children: ReactNode }) {
  return <span className="grid size-4 flex-none place-items-center">{children}</span>;
}
