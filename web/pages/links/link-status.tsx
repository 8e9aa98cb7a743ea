import CircleSlash from "lucide-react/icons/ban";
import CirclePause from "lucide-react/icons/circle-pause";
import Clock from "lucide-react/icons/clock";
import Lock from "lucide-react/icons/lock";
import OctagonX from "lucide-react/icons/octagon-x";
import TriangleAlert from "lucide-react/icons/triangle-alert";
import Unlink from "lucide-react/icons/unlink";
import type { Link } from "../../api/generated.ts";
import { formatNumber, formatRoundPercent } from "../../format.ts";
import { linksTexts as t } from "../../texts/links.ts";
import { Status } from "../../ui/chip.tsx";
import type { Icon } from "../../ui/icon.ts";

/** The state of a link in a few words. Only trouble has a colour. */
export interface ShownStatus {
  readonly tone: "ok" | "quiet" | "warn" | "bad";
  readonly icon?: Icon;
  readonly text: string;
  /** The whole story, for the title. */
  readonly more: string;
}

const nearShare = 0.8;

export function statusOf(link: Link, now: number): ShownStatus {
  const { status, expiresAt, suspended, target, hitsUsed, hitsLimit } = link;
  if (suspended !== null) return { tone: "bad", icon: CircleSlash, text: t.suspendedWord, more: suspended };
  if (status === "disabled") return { tone: "quiet", icon: CirclePause, text: t.disabled, more: t.disabled };
  if (expiresAt !== null && Date.parse(expiresAt) <= now) {
    return { tone: "quiet", icon: Clock, text: t.expired, more: t.expired };
  }
  if (target?.state === "dead") {
    const text = target.httpStatus === null ? t.targetSilent : t.targetStatus(target.httpStatus);
    return { tone: "bad", icon: Unlink, text, more: target.reason ?? text };
  }
  if (hitsLimit !== null && hitsUsed > 0) {
    const more = t.quotaUse(formatNumber(hitsUsed), hitsLimit);
    if (hitsUsed >= hitsLimit) return { tone: "bad", icon: OctagonX, text: t.quotaFull, more };
    const share = hitsUsed / hitsLimit;
    // 99.6% is not full.
    const shown = formatRoundPercent(Math.floor(share * 100) / 100);
    if (share >= nearShare) return { tone: "warn", icon: TriangleAlert, text: t.quotaShare(shown), more };
  }
  return { tone: "ok", text: t.active, more: t.active };
}

/** Its trend is grey. */
export const isOff = (link: Link, now: number): boolean =>
  link.status === "disabled" || (link.expiresAt !== null && Date.parse(link.expiresAt) <= now);

export function LinkStatus({ link, now }: { readonly link: Link; readonly now: number }) {
  const { tone, icon, text, more } = statusOf(link, now);
  return (
    <span title={more} className="flex min-w-0 items-center gap-1.5">
      <Status tone={tone} icon={icon}>
        {text}
      </Status>
      {link.password && <Lock role="img" aria-label={t.password} className="size-[13px] text-text-3" />}
    </span>
  );
}
