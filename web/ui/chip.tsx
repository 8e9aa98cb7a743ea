import CircleAlert from "lucide-react/icons/circle-alert";
import CircleX from "lucide-react/icons/circle-x";
import Plus from "lucide-react/icons/plus";
import TriangleAlert from "lucide-react/icons/triangle-alert";
import X from "lucide-react/icons/x";
import type { ComponentProps, ReactNode } from "react";
import { cx } from "./class-names.ts";
import type { Icon } from "./icon.ts";
import { tintClass } from "./tint.ts";

const chip =
  "inline-flex max-sm:h-11 max-w-full items-center gap-1.5 rounded-full border px-[9px] max-sm:px-3.5 text-12 max-sm:text-14 whitespace-nowrap transition-colors";

interface FilterChipProps {
  /** The sentence: `<FilterWord>Domain is</FilterWord> al.example`. */
  readonly children: ReactNode;
  readonly onRemove: () => void;
  readonly removeLabel: string;
  /** Opens the picker of this filter. */
  readonly onEdit?: (() => void) | undefined;
}

/** A filter that is set. */
export function FilterChip({ children, onRemove, removeLabel, onEdit }: FilterChipProps) {
  const text = "min-w-0 truncate [word-spacing:2px]";
  return (
    <span className={cx(chip, "h-[26px] border-transparent bg-accent-soft pr-0 max-sm:pr-0 text-text")}>
      {onEdit ? (
        <button type="button" className={cx(text, "h-full rounded-1")} onClick={onEdit}>
          {children}
        </button>
      ) : (
        <span className={text}>{children}</span>
      )}
      <button
        type="button"
        aria-label={removeLabel}
        onClick={onRemove}
        className="-ml-1.5 grid h-full w-7 max-sm:w-11 flex-none place-items-center rounded-full text-text-2 hover:text-text"
      >
        <X className="size-3.5" />
      </button>
    </span>
  );
}

/** The quiet words of a filter: "Domain is", "or". */
export function FilterWord({ children }: { readonly children: ReactNode }) {
  return <span className="text-text-2">{children}</span>;
}

interface AddChipProps extends ComponentProps<"button"> {
  readonly icon?: Icon | undefined;
}

/** The dashed chip that adds a filter. */
export function AddChip({ icon: IconShape = Plus, children, className, ...rest }: AddChipProps) {
  return (
    <button
      type="button"
      {...rest}
      className={cx(
        chip,
        "h-[26px] border-dashed border-line-strong text-text-2 hover:bg-hover hover:text-text",
        className,
      )}
    >
      <IconShape className="size-3.5" />
      {children}
    </button>
  );
}

interface ChipProps extends ComponentProps<"button"> {
  readonly pressed?: boolean | undefined;
  /** Already formatted. */
  readonly count?: string | undefined;
  readonly dot?: "ok" | "warn" | "bad" | undefined;
  readonly icon?: Icon | undefined;
  /** 22 px, under an input. */
  readonly small?: boolean | undefined;
}

/** A chip to press: a toggle when `pressed` is given, otherwise a small button such as a free ending. */
export function Chip({ pressed, count, dot, icon: IconShape, small, children, className, ...rest }: ChipProps) {
  return (
    <button
      type="button"
      aria-pressed={pressed}
      {...rest}
      className={cx(
        chip,
        small ? "h-[22px]" : "h-[26px]",
        pressed ? "border-pressed bg-pressed font-medium" : "border-line-strong bg-surface hover:bg-hover",
        pressed === false ? "text-text-2 hover:text-text" : "text-text",
        className,
      )}
    >
      {dot && <Dot tone={dot} />}
      {IconShape && <IconShape className="size-3.5" />}
      {children}
      {count !== undefined && (
        <span className={cx("num font-normal", pressed ? "text-text-2" : "text-text-3")}>{count}</span>
      )}
    </button>
  );
}

/** A line between groups of chips. */
export function ChipSeparator() {
  return <span aria-hidden="true" className="mx-1 h-4 w-px flex-none bg-line-strong" />;
}

interface TagProps {
  readonly children: string;
  /** Colours the tag by its name. Tags are grey otherwise. */
  readonly tinted?: boolean | undefined;
  readonly className?: string | undefined;
}

export function Tag({ children, tinted, className }: TagProps) {
  return (
    <span
      title={children}
      className={cx(
        "inline-block h-5 max-w-full truncate rounded-1 px-[7px] align-middle text-12 leading-5",
        tinted ? tintClass(children) : "bg-tint-6 text-tint-6-text",
        className,
      )}
    >
      {children}
    </span>
  );
}

type Tone = "ok" | "warn" | "bad" | "quiet";

const dots = { ok: "bg-ok", warn: "bg-warn", bad: "bg-bad", quiet: "bg-text-3" } as const;

export function Dot({ tone }: { readonly tone: Tone }) {
  return <span aria-hidden="true" className={cx("size-1.5 flex-none rounded-full", dots[tone])} />;
}

interface StatusProps {
  readonly tone: Tone;
  readonly children: ReactNode;
  readonly icon?: Icon | undefined;
  readonly className?: string | undefined;
}

/** A healthy state is a dot and a quiet word; trouble has a colour and an icon. */
export function Status({ tone, children, icon, className }: StatusProps) {
  const colour = { ok: "text-text-2", quiet: "text-text-3", warn: "text-warn", bad: "text-bad" }[tone];
  const fallback = { ok: undefined, quiet: undefined, warn: TriangleAlert, bad: CircleX }[tone];
  const IconShape = icon ?? fallback;
  return (
    <span
      className={cx("inline-flex max-w-full items-center gap-1.5 align-middle whitespace-nowrap", colour, className)}
    >
      {IconShape ? <IconShape className="size-[13px] stroke-2" /> : <Dot tone={tone} />}
      <span className="truncate">{children}</span>
    </span>
  );
}

/** The pill beside a title. A quiet one is a word about the thing, no state: it has no dot. */
export function Badge({ tone, children, icon, className }: StatusProps) {
  const colour = {
    ok: "bg-ok-soft text-ok",
    warn: "bg-warn-soft text-warn",
    bad: "bg-bad-soft text-bad",
    quiet: "bg-tint-6 text-tint-6-text",
  }[tone];
  const IconShape = icon ?? (tone === "bad" ? CircleAlert : undefined);
  return (
    <span
      className={cx(
        "inline-flex h-[22px] items-center gap-1.5 rounded-full px-2 text-12 font-medium tracking-normal whitespace-nowrap",
        colour,
        className,
      )}
    >
      {IconShape ? <IconShape className="size-[13px]" /> : tone !== "quiet" && <Dot tone={tone} />}
      {children}
    </span>
  );
}

interface KbdProps {
  readonly children: ReactNode;
  /** On the primary button. */
  readonly onInk?: boolean | undefined;
}

export function Kbd({ children, onInk }: KbdProps) {
  return (
    <kbd
      className={cx(
        "min-w-[18px] flex-none rounded-1 border px-1 text-center font-sans text-11 font-medium whitespace-nowrap",
        onInk
          ? "border-[color-mix(in_srgb,var(--on-ink)_30%,transparent)] text-[color-mix(in_srgb,var(--on-ink)_82%,transparent)]"
          : "border-line-strong bg-bg text-text-3",
      )}
    >
      {children}
    </kbd>
  );
}
