import { Dialog as Base } from "@base-ui/react/dialog";
import X from "lucide-react/icons/x";
import { type ReactNode, type RefObject, useRef } from "react";
import { IconButton } from "./button.tsx";
import { cx } from "./class-names.ts";
import { scrimClass } from "./dialog.tsx";
import { firstControl } from "./first-control.ts";
import { leavesEscToPopup } from "./popup.ts";

interface DrawerProps {
  readonly open: boolean;
  readonly onClose: () => void;
  /** Asked before closing by Esc, × or the scrim; false keeps the drawer open. */
  readonly mayClose?: (() => boolean) | undefined;
  readonly title: ReactNode;
  readonly closeLabel: string;
  /** In the header, left of the ×. */
  readonly actions?: ReactNode;
  readonly footer?: ReactNode;
  /** wide leaves room for `aside` from 1,100 px on. */
  readonly size?: "md" | "wide" | undefined;
  /** Right of the body on wide screens: a live preview. */
  readonly aside?: ReactNode;
  /** Gets the focus when the drawer opens. The first control otherwise. */
  readonly initialFocus?: RefObject<HTMLElement | null> | undefined;
  /** Where the focus goes afterwards. To where it came from otherwise. */
  readonly finalFocus?: RefObject<HTMLElement | null> | undefined;
  /** Around body and footer, so that Enter and a submit button in the footer work. */
  readonly onSubmit?: (() => void) | undefined;
  readonly children: ReactNode;
}

/** Slides in from the right; fills a phone's screen. ⌘↵ or Ctrl+Enter submits from any field. */
export function Drawer(props: DrawerProps) {
  const { open, onClose, mayClose, title, closeLabel, actions, footer, size = "md", aside, onSubmit, children } = props;
  const body = useRef<HTMLDivElement>(null);
  const content = (
    <>
      <div className="flex min-h-0 flex-1">
        <div
          ref={body}
          className="grid min-h-0 min-w-0 flex-1 grid-cols-1 content-start gap-4 overflow-y-auto overscroll-contain px-6 py-[18px] max-sm:px-4"
        >
          {children}
        </div>
        {aside && (
          <aside className="w-[360px] flex-none overflow-y-auto overscroll-contain border-l border-line bg-sunken p-6 max-lg:hidden">
            {aside}
          </aside>
        )}
      </div>
      {footer && (
        <footer className="flex min-h-[60px] flex-none items-center gap-2 border-t border-line px-6 py-2 max-sm:px-4 max-sm:pb-[calc(8px+env(safe-area-inset-bottom))]">
          {footer}
        </footer>
      )}
    </>
  );
  return (
    <Base.Root
      open={open}
      onOpenChange={(isOpen, details) => {
        if (isOpen || leavesEscToPopup(details)) return;
        if (mayClose?.() === false) details.cancel();
        else onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className={scrimClass} />
        <Base.Popup
          data-drawer=""
          // Here and not at the form: the drawer itself has the focus when a field with the focus goes away.
          onKeyDown={(event) => {
            if (!onSubmit || event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
            event.preventDefault();
            onSubmit();
          }}
          initialFocus={props.initialFocus ?? firstControl(body)}
          {...(props.finalFocus ? { finalFocus: props.finalFocus } : {})}
          className={cx(
            "fixed inset-y-0 right-0 z-40 flex w-full flex-col bg-surface shadow-3 outline-hidden transition-[opacity,transform] duration-(--normal) data-ending-style:translate-x-6 data-ending-style:opacity-0 data-starting-style:translate-x-6 data-starting-style:opacity-0",
            "sm:w-[min(var(--drawer),100vw)]",
            size === "wide" && "lg:w-[920px]",
          )}
        >
          <header className="flex h-[52px] flex-none items-center gap-1 border-b border-line pr-3 pl-6 max-sm:pr-1 max-sm:pl-4">
            <Base.Title className="min-w-0 flex-1 truncate text-14 font-semibold">{title}</Base.Title>
            {actions}
            <Base.Close render={<IconButton icon={X} label={closeLabel} shortcut="Esc" tooltipSide="bottom" />} />
          </header>
          {onSubmit ? (
            <form
              noValidate
              className="flex min-h-0 flex-1 flex-col"
              onSubmit={(event) => {
                event.preventDefault();
                onSubmit();
              }}
            >
              {content}
            </form>
          ) : (
            content
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
