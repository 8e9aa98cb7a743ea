import CircleAlert from "lucide-react/icons/circle-alert";
import { createContext, type ReactNode, useContext, useId } from "react";
import { cx } from "./class-names.ts";

/** What a field tells the control inside it. */
interface FieldLink {
  readonly id: string;
  readonly describedBy: string | undefined;
  readonly invalid: boolean;
  readonly label: string | undefined;
}

const FieldContext = createContext<FieldLink | undefined>(undefined);

interface FieldProps {
  readonly label: ReactNode;
  /** Right of the label: "plan maximum 10,000". */
  readonly remark?: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: ReactNode;
  /** Below the error, what to do about it: free endings as chips. */
  readonly wayOut?: ReactNode;
  /** For screen readers only, when the page already says it. */
  readonly hideLabel?: boolean | undefined;
  readonly className?: string | undefined;
  /** One control of `web/ui`; it takes its id, description and error from here. */
  readonly children: ReactNode;
}

export function Field({ label, remark, hint, error, wayOut, hideLabel, className, children }: FieldProps) {
  const id = useId();
  const describedBy = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(" ") || undefined;
  const link = { id, describedBy, invalid: Boolean(error), label: typeof label === "string" ? label : undefined };
  return (
    <div className={cx("grid min-w-0 content-start gap-1.5", className)}>
      <div className={cx("flex items-baseline gap-1.5", hideLabel && "sr-only")}>
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {remark && <span className="ml-auto text-right text-12 text-text-3">{remark}</span>}
      </div>
      <FieldContext value={link}>{children}</FieldContext>
      {error && <FieldError id={`${id}-error`}>{error}</FieldError>}
      {error && wayOut}
      {hint && (
        <div id={`${id}-hint`} className="text-12 text-pretty text-text-3">
          {hint}
        </div>
      )}
    </div>
  );
}

/** Spoken when it appears. */
export function FieldError({ id, children }: { readonly id?: string | undefined; readonly children: ReactNode }) {
  return (
    <p id={id} role="alert" className="flex items-start gap-1.5 text-12 text-bad">
      <CircleAlert className="mt-px size-3.5" />
      <span className="text-pretty">{children}</span>
    </p>
  );
}

interface FieldSetProps {
  readonly legend: ReactNode;
  readonly remark?: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: ReactNode;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** Several controls under one label: checkboxes, a list of rules. */
export function FieldSet({ legend, remark, hint, error, className, children }: FieldSetProps) {
  const id = useId();
  const describedBy = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(" ") || undefined;
  return (
    <fieldset aria-describedby={describedBy} className={cx("grid min-w-0 gap-1.5", className)}>
      <legend className="float-left flex w-full items-baseline gap-1.5 font-medium">
        {legend}
        {remark && <span className="ml-auto text-12 font-normal text-text-3">{remark}</span>}
      </legend>
      {children}
      {error && <FieldError id={`${id}-error`}>{error}</FieldError>}
      {hint && (
        <div id={`${id}-hint`} className="text-12 text-pretty text-text-3">
          {hint}
        </div>
      )}
    </fieldset>
  );
}

interface ControlProps {
  readonly id?: string | undefined;
  readonly "aria-describedby"?: string | undefined;
  readonly "aria-invalid"?: boolean | "true" | "false" | "grammar" | "spelling" | undefined;
}

/** The ids that tie a control to its field. What the control was given itself wins. */
export function useFieldControl(own: ControlProps) {
  const field = useContext(FieldContext);
  return {
    id: own.id ?? field?.id,
    "aria-describedby": own["aria-describedby"] ?? field?.describedBy,
    "aria-invalid": own["aria-invalid"] ?? (field?.invalid || undefined),
  };
}

/** The label of the field, for controls whose popup hides the rest of the page from screen readers while it is open. */
export function useFieldLabel(): string | undefined {
  return useContext(FieldContext)?.label;
}
