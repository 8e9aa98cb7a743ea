import CircleCheck from "lucide-react/icons/circle-check";
import Unlink from "lucide-react/icons/unlink";
import type { LinkTarget } from "../../api/generated.ts";
import { formatDateTime, formatMilliseconds, formatRelative, formatSince } from "../../format.ts";
import { linkTexts } from "../../texts/link.ts";

const t = linkTexts.health;

/** Whether the destination works, and when that was seen. */
export function TargetHealth({ target }: { readonly target: LinkTarget | null }) {
  if (target === null || target.state === "unchecked") return null;
  const { checkedAt, httpStatus, responseMs, failingSince } = target;
  const when = formatRelative(checkedAt);
  const title = formatDateTime(checkedAt);
  const line = "inline-flex items-center gap-[5px] text-12";
  if (target.state === "ok")
    return (
      <span title={title} className={`${line} text-text-3`}>
        <CircleCheck className="size-3.5 text-ok" />
        {responseMs === null ? t.ok(when) : t.okIn(formatMilliseconds(responseMs), when)}
      </span>
    );
  return (
    <span title={title} className={`${line} text-bad`}>
      <Unlink className="size-3.5" />
      {failureText(httpStatus, failingSince)}
      <span className="text-text-3">
        {t.checked(when)}. {t.stillGo}
      </span>
    </span>
  );
}

/** "Target 404 since 09:12". */
export function failureText(httpStatus: number | null, failingSince: string | null): string {
  const since = failingSince === null ? undefined : formatSince(failingSince);
  if (httpStatus === null) return since === undefined ? t.noAnswer : t.noAnswerSince(since);
  return since === undefined ? t.failing(String(httpStatus)) : t.failingSince(String(httpStatus), since);
}
