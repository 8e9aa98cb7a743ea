import X from "lucide-react/icons/x";
import type { ReactNode } from "react";
import { IconButton } from "./button.tsx";

interface BulkBarProps {
  /** The accessible name. */
  readonly label: string;
  /** "2 selected". */
  readonly summary: string;
  readonly clearLabel: string;
  readonly onClear: () => void;
  /** Quiet buttons and `BulkSeparator`s. */
  readonly children: ReactNode;
}

/** Floats over the page, centred beside the sidebar, and never moves the table. On phones its buttons are icons. */
export function BulkBar({ label, summary, clearLabel, onClear, children }: BulkBarProps) {
  return (
    <div
      data-bulk-bar=""
      className="pointer-events-none fixed inset-x-0 bottom-5 z-30 flex justify-center px-3 sm:left-14 md:left-(--sidebar) max-sm:bottom-[calc(84px+env(safe-area-inset-bottom))]"
    >
      <div
        role="toolbar"
        aria-label={label}
        className="pointer-events-auto flex h-11 max-w-full animate-rise items-center gap-0.5 overflow-x-auto rounded-4 bg-raised pr-1.5 pl-3.5 whitespace-nowrap shadow-3 max-sm:h-[52px] [&>*]:flex-none [&>button]:px-2.5 max-sm:[&>button>span]:sr-only [&>button:not(.text-bad)]:text-text [&>button:not(.text-bad)>svg]:text-text-2"
      >
        <b role="status" className="num mr-2.5 font-semibold">
          {summary}
        </b>
        {children}
        <BulkSeparator />
        <IconButton
          icon={X}
          label={clearLabel}
          shortcut="Esc"
          onClick={onClear}
          className="sticky right-0 bg-raised px-0!"
        />
      </div>
    </div>
  );
}

export function BulkSeparator() {
  return <span aria-hidden="true" className="mx-1.5 h-5 w-px flex-none bg-line-strong max-sm:mx-0" />;
}
