import { commonTexts } from "../../texts/common.ts";
import { Skeleton } from "../../ui/states.tsx";

/** Three lines of a small card. */
export function CardWaiting() {
  return (
    <div role="status" className="grid gap-3 px-4 pb-4">
      <span className="sr-only">{commonTexts.loading}</span>
      <Skeleton className="w-full" />
      <Skeleton className="w-4/5" />
      <Skeleton className="w-3/5" />
    </div>
  );
}
