import { cx } from "./class-names.ts";
import { CopyButton } from "./copy-button.tsx";

interface CodeBlockProps {
  readonly code: string;
  /** What it is, for screen readers: "DNS record". */
  readonly label: string;
  readonly copyLabel: string;
  readonly copiedLabel: string;
  /** One line that is cut off at the end; the copy has all of it. */
  readonly oneLine?: boolean | undefined;
}

/** Keys, DNS records and code. It scrolls inside, and never makes what it is in wider. */
export function CodeBlock({ code, label, copyLabel, copiedLabel, oneLine }: CodeBlockProps) {
  return (
    <div className="flex w-full min-w-0 items-start [contain:inline-size] gap-1 rounded-2 border border-line bg-sunken py-1 pr-1 pl-3">
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={label}
        className="min-w-0 flex-1 self-center overflow-x-auto rounded-1 py-[3px]"
      >
        <pre
          className={cx(
            "font-mono text-12 leading-[18px]",
            // A phone is too narrow to scroll through a key that is shown once.
            oneLine ? "truncate" : "max-sm:break-all max-sm:whitespace-pre-wrap",
          )}
        >
          {code}
        </pre>
      </section>
      <CopyButton text={code} label={copyLabel} copiedLabel={copiedLabel} />
    </div>
  );
}
