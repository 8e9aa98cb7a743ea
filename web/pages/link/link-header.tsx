import CircleAlert from "lucide-react/icons/circle-alert";
import CornerDownRight from "lucide-react/icons/corner-down-right";
import Pencil from "lucide-react/icons/pencil";
import type { Link } from "../../api/generated.ts";
import { formatDateTime, formatNumber, formatRelative } from "../../format.ts";
import { useLinkDrawer } from "../../shell/link-drawer.ts";
import { linkTexts as t } from "../../texts/link.ts";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/chip.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Notice } from "../../ui/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { shortly } from "../edit/link-form.ts";
import { LinkPageMenu } from "./link-page-menu.tsx";
import { QrPicture } from "./qr-picture.tsx";
import { ShareButton } from "./share-button.tsx";
import { TargetHealth } from "./target-health.tsx";

/** What the link is: address, state, destination and its health. */
export function LinkHeader({ link }: { readonly link: Link }) {
  const { can } = useWorkspace();
  const drawer = useLinkDrawer();
  const address = shortly(link.shortUrl);
  const host = address.slice(0, address.length - link.code.length);
  const others = link.rules.length + link.split.length;
  return (
    <>
      <header className="mb-5 flex flex-wrap items-center gap-x-4 gap-y-3">
        <QrPicture link={link} onOpen={() => drawer.edit(link.id, "qr")} />
        <div className="min-w-0 flex-[1_1_14rem]">
          <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
            <h1
              title={address}
              className="min-w-0 truncate text-24 font-semibold tracking-[-.018em] max-sm:whitespace-normal max-sm:text-18"
            >
              <span className="font-normal text-text-3">{host}</span>
              {link.code}
            </h1>
            <CopyButton
              text={link.shortUrl}
              label={t.copy(address)}
              copiedLabel={t.copied(address)}
              size="sm"
              className="bg-pressed text-text"
            />
            <State link={link} />
          </div>
          <div className="mt-1 flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5 text-text-2 max-sm:mt-3">
            <span className="flex max-w-full min-w-0 items-center gap-2">
              <CornerDownRight className="size-3.5 text-text-3" aria-hidden />
              {link.url === null ? (
                <span className="min-w-0 truncate">{t.file(link.fileName ?? "")}</span>
              ) : (
                <a
                  href={link.url}
                  target="_blank"
                  rel="noreferrer"
                  title={link.url}
                  className="touch flex max-w-[min(100%,52ch)] min-w-0 rounded-1 hover:text-text hover:underline"
                >
                  <span className="truncate">{shortly(link.url)}</span>
                </a>
              )}
            </span>
            {others > 0 && <span className="text-12 text-text-3">{t.moreTargets(formatNumber(others))}</span>}
            <TargetHealth target={link.target} />
          </div>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <ShareButton link={link} />
          {can("links:write") && (
            <Button icon={Pencil} kbd="E" onClick={() => drawer.edit(link.id)}>
              {t.edit}
            </Button>
          )}
          <LinkPageMenu link={link} />
        </div>
      </header>
      <Trouble link={link} />
    </>
  );
}

const isExpired = ({ expiresAt }: Link): boolean => expiresAt !== null && Date.parse(expiresAt) <= Date.now();

function State({ link }: { readonly link: Link }) {
  if (link.suspended !== null) return <Badge tone="bad">{t.states.suspended}</Badge>;
  if (link.status === "disabled") return <Badge tone="quiet">{t.states.disabled}</Badge>;
  if (isExpired(link)) return <Badge tone="quiet">{t.states.expired}</Badge>;
  if (link.hitsLimit !== null && link.hitsUsed >= link.hitsLimit) return <Badge tone="bad">{t.states.quotaFull}</Badge>;
  return (
    <>
      <Badge tone="ok">{t.states.active}</Badge>
      {link.expiresAt !== null && (
        <span className="text-12 text-text-3" title={formatDateTime(link.expiresAt)}>
          {t.expires(formatRelative(link.expiresAt))}
        </span>
      )}
    </>
  );
}

/** One sentence about what visitors see, if it is not the destination. */
function Trouble({ link }: { readonly link: Link }) {
  const text =
    link.suspended !== null
      ? t.suspendedFor(link.suspended)
      : link.status === "disabled"
        ? t.disabledText
        : isExpired(link)
          ? (link.fallbackUrl === null ? t.expiredText : t.expiredFallback)(formatRelative(link.expiresAt ?? ""))
          : undefined;
  if (text === undefined) return null;
  return (
    <div className="mb-4">
      <Notice tone={link.suspended === null ? "quiet" : "bad"} icon={CircleAlert}>
        {text}
      </Notice>
    </div>
  );
}
