import { commonTexts } from "../../texts/common.ts";
import { Skeleton } from "../../ui/states.tsx";

/** As high as the chart. */
export function ChartWaiting() {
  return (
    <div role="status" className="border-t border-line px-4 pt-3.5 pb-2.5">
      <span className="sr-only">{commonTexts.loading}</span>
      <Skeleton className="mb-3 h-5 w-40" />
      <Skeleton className="h-[250px]" />
    </div>
  );
}
