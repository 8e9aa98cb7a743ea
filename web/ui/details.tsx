import ChevronRight from "lucide-react/icons/chevron-right";
import type { ReactNode } from "react";

interface DetailsProps {
  readonly title: ReactNode;
  /** What is set inside: "newsletter · email · winter-2026", or "None". */
  readonly summary?: ReactNode;
  readonly open?: boolean | undefined;
  readonly onOpenChange?: ((open: boolean) => void) | undefined;
  readonly children: ReactNode;
}

/** An advanced part, folded. Several of them share their lines inside `DetailsList`. */
export function Details({ title, summary, open, onOpenChange, children }: DetailsProps) {
  return (
    <details
      open={open}
      onToggle={(event) => onOpenChange?.(event.currentTarget.open)}
      className="group/details border-t border-line"
    >
      <summary className="flex min-h-[38px] max-sm:min-h-11 list-none items-center gap-2 font-medium focus-visible:-outline-offset-2 [&::-webkit-details-marker]:hidden">
        <ChevronRight className="size-3.5 text-text-3 transition-transform group-open/details:rotate-90" />
        <span className="max-w-[calc(100%-22px)] flex-none">{title}</span>
        <span className="ml-auto min-w-0 truncate text-12 font-normal text-text-3">{summary}</span>
      </summary>
      <div className="grid grid-cols-1 gap-4 pt-2 pb-4">{children}</div>
    </details>
  );
}

export function DetailsList({ children }: { readonly children: ReactNode }) {
  return <div className="border-b border-line">{children}</div>;
}
