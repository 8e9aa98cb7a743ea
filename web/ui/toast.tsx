import { Toast as Base } from "@base-ui/react/toast";
import CircleAlert from "lucide-react/icons/circle-alert";
import X from "lucide-react/icons/x";
import { type ReactNode, useCallback, useMemo } from "react";
import { IconButton } from "./button.tsx";
import { cx } from "./class-names.ts";

export interface ToastMessage {
  readonly message: string;
  readonly tone?: "plain" | "bad" | undefined;
  /** "Undo": the toast then stays for 10 seconds. */
  readonly action?: { readonly label: string; readonly onAction: () => void } | undefined;
  /** A toast with the same key replaces the one before it. */
  readonly key?: string | undefined;
}

const plainMs = 4_000;
const actionMs = 10_000;
const maxShown = 3;

interface ToastProviderProps {
  /** The name of the region for screen readers. */
  readonly label: string;
  readonly closeLabel: string;
  readonly children: ReactNode;
}

export function ToastProvider({ label, closeLabel, children }: ToastProviderProps) {
  return (
    <Base.Provider limit={maxShown} timeout={plainMs}>
      {children}
      <Base.Portal>
        <Base.Viewport
          aria-label={label}
          className="fixed right-5 bottom-5 z-60 flex w-[min(400px,calc(100vw-40px))] flex-col gap-2 outline-hidden max-sm:right-3 max-sm:bottom-[calc(84px+env(safe-area-inset-bottom))] max-sm:w-[calc(100vw-24px)] [:root:has([data-bulk-bar],[data-drawer])_&]:bottom-[76px] max-sm:[:root:has([data-bulk-bar])_&]:bottom-[calc(144px+env(safe-area-inset-bottom))]"
        >
          <Stack closeLabel={closeLabel} />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
}

function Stack({ closeLabel }: { readonly closeLabel: string }) {
  const { toasts } = Base.useToastManager();
  return toasts.toReversed().map((toast) => (
    <Base.Root
      key={toast.id}
      toast={toast}
      className="rounded-3 bg-raised shadow-3 transition-[opacity,transform] duration-(--normal) data-ending-style:translate-y-2 data-ending-style:opacity-0 data-limited:hidden data-starting-style:translate-y-2 data-starting-style:opacity-0"
    >
      <Base.Content className="flex min-h-11 items-center gap-2 py-1 pr-1.5 pl-3.5">
        {toast.type === "bad" && <CircleAlert className="text-bad" />}
        <Base.Title render={<p />} className={cx("min-w-0 flex-1", toast.type === "bad" && "text-bad")} />
        {toast.actionProps && (
          <Base.Action className="h-[26px] max-sm:h-11 flex-none rounded-2 px-2 font-medium text-accent-text hover:bg-hover" />
        )}
        <Base.Close render={<IconButton icon={X} label={closeLabel} size="sm" />} />
      </Base.Content>
    </Base.Root>
  ));
}

/** Shows a message; the answer takes it away again. */
export function useToast(): (message: ToastMessage) => () => void {
  const manager = Base.useToastManager();
  const { add, close } = manager;
  const show = useCallback(
    ({ message, tone = "plain", action, key }: ToastMessage) => {
      const id = add({
        ...(key === undefined ? {} : { id: key }),
        title: message,
        type: tone,
        timeout: action ? actionMs : plainMs,
        priority: tone === "bad" ? "high" : "low",
        ...(action
          ? {
              actionProps: {
                children: action.label,
                onClick: () => {
                  action.onAction();
                  close(id);
                },
              },
            }
          : {}),
      });
      return () => close(id);
    },
    [add, close],
  );
  return useMemo(() => show, [show]);
}
