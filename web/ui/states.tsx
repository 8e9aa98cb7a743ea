import CircleAlert from "lucide-react/icons/circle-alert";
import LoaderCircle from "lucide-react/icons/loader-circle";
import WifiOff from "lucide-react/icons/wifi-off";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { cx } from "./class-names.ts";
import type { Icon } from "./icon.ts";

interface EmptyProps {
  readonly icon?: Icon | undefined;
  /** One sentence. */
  readonly children: ReactNode;
  /** One action. */
  readonly action?: ReactNode;
  /** small stands inside a card, between its other lines. */
  readonly small?: boolean | undefined;
}

export function Empty({ icon: IconShape, children, action, small }: EmptyProps) {
  return (
    <div className={cx("grid justify-items-center gap-3 px-4 text-center", small ? "py-6" : "py-14")}>
      {IconShape && (
        <span className="grid size-9 place-items-center rounded-3 border border-line bg-surface text-text-3">
          <IconShape />
        </span>
      )}
      <p className="max-w-[44ch] text-balance text-text-2">{children}</p>
      {action}
    </div>
  );
}

interface ErrorStateProps {
  /** What happened: "Could not load countries." */
  readonly message: ReactNode;
  readonly retryLabel?: string | undefined;
  readonly onRetry?: (() => void) | undefined;
  readonly retrying?: boolean | undefined;
  readonly small?: boolean | undefined;
}

/** Stands in the card that failed, or is one; the rest of the page works. */
export function ErrorState({ message, retryLabel, onRetry, retrying, small }: ErrorStateProps) {
  return (
    <div
      role="alert"
      className={cx(
        "flex flex-wrap items-center justify-center gap-x-3 gap-y-2 rounded-3 px-4 text-text-2",
        small ? "py-4" : "border border-line bg-surface py-10 in-[.bg-surface]:border-transparent",
      )}
    >
      <span className="inline-flex items-start gap-2">
        <CircleAlert className="mt-0.5 text-bad" />
        <span className="text-pretty">{message}</span>
      </span>
      {retryLabel && onRetry && (
        <Button size="sm" loading={retrying} onClick={onRetry}>
          {retryLabel}
        </Button>
      )}
    </div>
  );
}

interface NoticeProps {
  readonly tone?: "quiet" | "warn" | "bad" | "accent" | undefined;
  readonly icon?: Icon | undefined;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

/** A sentence above a form or a table that concerns all of it. */
export function Notice({ tone = "quiet", icon: IconShape = CircleAlert, children, action }: NoticeProps) {
  const colour = {
    quiet: "bg-sunken [&>svg]:text-text-3",
    accent: "bg-selected [&>svg]:text-accent",
    warn: "bg-warn-soft [&>svg]:text-warn",
    bad: "bg-bad-soft [&>svg]:text-bad",
  }[tone];
  return (
    <div
      role={tone === "bad" ? "alert" : undefined}
      className={cx("flex items-start gap-2.5 rounded-2 px-3 py-2.5", colour)}
    >
      <IconShape className="mt-0.5" />
      <div className="min-w-0 flex-1">{children}</div>
      {action && <div className="-my-[3px] flex-none">{action}</div>}
    </div>
  );
}

/** A grey block of the final size, after 200 ms. Put `Loading` beside it for screen readers. */
export function Skeleton({ className }: { readonly className?: string | undefined }) {
  return (
    <span aria-hidden="true" data-waiting className={cx("block h-4 animate-appear rounded-1 bg-pressed", className)} />
  );
}

const skeletonRow = "flex h-[42px] items-center gap-6 border-b border-line px-3.5 last:border-b-0 max-sm:h-[60px]";

/** Grey lines in place of table rows. */
export function SkeletonRows({ rows, label }: { readonly rows: number; readonly label: string }) {
  return (
    <div role="status" className="overflow-hidden rounded-3 border border-line bg-surface">
      <span className="sr-only">{label}</span>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the blocks are all alike
        <div key={index} className={skeletonRow}>
          <Skeleton className="w-1/4" />
          <Skeleton className="w-1/3" />
          <Skeleton className="ml-auto w-16" />
        </div>
      ))}
    </div>
  );
}

interface LoadingProps {
  readonly label: string;
  /** Says it in words for everybody, not only for screen readers. */
  readonly visible?: boolean | undefined;
  readonly className?: string | undefined;
}

export function Loading({ label, visible, className }: LoadingProps) {
  return (
    <span
      role="status"
      data-waiting
      className={cx("inline-flex animate-appear items-center gap-2 text-text-3", className)}
    >
      <LoaderCircle className="animate-spin motion-reduce:animate-none" />
      <span className={visible ? "" : "sr-only"}>{label}</span>
    </span>
  );
}

interface OfflineBarProps {
  /** The page has no top bar. */
  readonly isOnTop?: boolean | undefined;
  readonly children: ReactNode;
}

/** A thin grey bar under the top bar, which stays in place as that does. */
export function OfflineBar({ isOnTop, children }: OfflineBarProps) {
  return (
    <div
      role="status"
      className={cx(
        "sticky z-20 flex min-h-7 items-center justify-center gap-2 border-b border-line bg-pressed px-4 py-1 text-12 text-text-2",
        isOnTop ? "top-0" : "top-(--topbar)",
      )}
    >
      <WifiOff className="size-3.5 flex-none" />
      {children}
    </div>
  );
}
