import { Dialog as Base } from "@base-ui/react/dialog";
import X from "lucide-react/icons/x";
import { type FormEvent, type ReactNode, type RefObject, useRef, useState } from "react";
import { Button, IconButton } from "./button.tsx";
import { cx } from "./class-names.ts";
import { Field } from "./field.tsx";
import { firstControl } from "./first-control.ts";
import { Input } from "./input.tsx";
import { leavesEscToPopup } from "./popup.ts";

export const scrimClass =
  "fixed inset-0 z-40 bg-scrim transition-opacity duration-(--normal) data-starting-style:opacity-0 data-ending-style:opacity-0";

interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly closeLabel: string;
  readonly footer?: ReactNode;
  readonly size?: "sm" | "md" | "lg" | undefined;
  readonly initialFocus?: RefObject<HTMLElement | null> | undefined;
  readonly children?: ReactNode;
}

export function Dialog(props: DialogProps) {
  const { open, onClose, title, description, closeLabel, footer, size = "sm", initialFocus, children } = props;
  const body = useRef<HTMLDivElement>(null);
  const width = { sm: "sm:w-[420px]", md: "sm:w-[560px]", lg: "sm:w-[820px]" }[size];
  return (
    <Base.Root open={open} onOpenChange={(isOpen, details) => !isOpen && !leavesEscToPopup(details) && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={scrimClass} />
        <Base.Viewport className="fixed inset-0 z-40 grid place-items-center overflow-y-auto p-4">
          <Base.Popup
            initialFocus={initialFocus ?? firstControl(body)}
            className={cx(
              "flex max-h-[calc(100dvh-32px)] w-full flex-col rounded-4 bg-raised shadow-3 outline-hidden transition-opacity duration-(--normal) data-ending-style:opacity-0 data-starting-style:opacity-0",
              width,
            )}
          >
            <header className="flex items-start gap-2 pt-4 pr-3 pl-5">
              <div className="min-w-0 flex-1 py-1">
                <Base.Title className="text-14 font-semibold">{title}</Base.Title>
                {description && <Base.Description className="mt-1 text-text-2">{description}</Base.Description>}
              </div>
              <Base.Close render={<IconButton icon={X} label={closeLabel} />} />
            </header>
            {children && (
              <div
                ref={body}
                tabIndex={-1}
                className="min-h-0 outline-hidden overflow-x-hidden overflow-y-auto px-5 pt-3 pb-1"
              >
                {children}
              </div>
            )}
            {footer && <footer className="flex flex-wrap justify-end gap-2 p-5 pt-4">{footer}</footer>}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}

interface ConfirmDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
  readonly title: ReactNode;
  /** What will happen. */
  readonly description: ReactNode;
  readonly confirmLabel: string;
  readonly cancelLabel: string;
  readonly closeLabel: string;
  readonly loading?: boolean | undefined;
  readonly error?: ReactNode;
  /** Must be typed before the button works, for what cannot be undone. */
  readonly typeToConfirm?: { readonly text: string; readonly label: ReactNode; readonly mismatch: string } | undefined;
  readonly children?: ReactNode;
}

/** Only for what cannot be undone. Everything else happens at once and offers Undo. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { onClose, cancelLabel, closeLabel, confirmLabel, loading } = props;
  const [attempt, setAttempt] = useState<"none" | "mismatch">("none");
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get("confirm");
    if (props.typeToConfirm && typed !== props.typeToConfirm.text) {
      setAttempt("mismatch");
      event.currentTarget.querySelector("input")?.focus();
      return;
    }
    setAttempt("none");
    props.onConfirm();
  };
  return (
    <Dialog
      open={props.open}
      onClose={() => {
        setAttempt("none");
        onClose();
      }}
      title={props.title}
      description={props.description}
      closeLabel={closeLabel}
    >
      <form onSubmit={submit} className="grid gap-4 pb-4">
        {props.children}
        {props.typeToConfirm && (
          <Field
            label={props.typeToConfirm.label}
            error={attempt === "mismatch" ? props.typeToConfirm.mismatch : props.error}
          >
            <Input name="confirm" autoComplete="off" spellCheck={false} onChange={() => setAttempt("none")} />
          </Field>
        )}
        {!props.typeToConfirm && props.error && (
          <p role="alert" className="text-12 text-bad">
            {props.error}
          </p>
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{cancelLabel}</Button>
          <Button type="submit" variant="destructive" loading={loading}>
            {confirmLabel}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
