import type { ClickReport } from "../../api/generated.ts";
import { inexactOf } from "./inexact.ts";

/** What is not exact about a report, in words, below its numbers. */
export function Honesty({ report }: { readonly report: ClickReport }) {
  const sentences = inexactOf(report);
  if (sentences.length === 0) return null;
  return (
    <ul className="grid gap-1 border-t border-line px-4 py-2.5 text-12 text-text-3">
      {sentences.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}
