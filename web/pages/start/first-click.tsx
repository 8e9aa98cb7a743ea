import { Link } from "@tanstack/react-router";
import ChartNoAxesColumn from "lucide-react/icons/chart-no-axes-column";
import Download from "lucide-react/icons/download";
import Globe from "lucide-react/icons/globe";
import Plus from "lucide-react/icons/plus";
import UserPlus from "lucide-react/icons/user-plus";
import { useEffect, useState } from "react";
import { send } from "../../api/call.ts";
import type { Link as ShortLink } from "../../api/generated.ts";
import { countryName, formatClock, formatDateTime } from "../../format.ts";
import { startTexts as t } from "../../texts/start.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Loading } from "../../ui/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { type LiveClick, useClicksOfLink } from "./use-clicks-of-link.ts";

interface FirstClickProps {
  readonly link: ShortLink;
  readonly onAnother: () => void;
}

/** The new link, and its first clicks as they happen. */
export function FirstClick({ link, onAnother }: FirstClickProps) {
  const { clicks, state } = useClicksOfLink(link);
  const address = link.shortUrl.replace(/^https?:\/\//, "");
  return (
    <div className="mx-auto grid max-w-[620px] gap-5">
      <h1 className="text-center text-24 font-semibold tracking-[-.02em]">{t.created}</h1>
      <Card>
        <div className="flex items-center gap-5 p-5 max-sm:flex-col-reverse max-sm:items-stretch">
          <QrPicture id={link.id} address={address} />
          <div className="grid min-w-0 flex-1 gap-3">
            <a
              href={link.shortUrl}
              target="_blank"
              rel="noreferrer"
              className="min-w-0 rounded-1 text-24 font-semibold tracking-[-.02em] text-accent-text hover:underline"
            >
              {address}
            </a>
            <p className="line-clamp-2 text-text-2" title={link.url ?? undefined}>
              {t.leadsTo(link.url ?? "")}
            </p>
            <div className="flex">
              <CopyButton
                text={link.shortUrl}
                label={t.copyLabel(address)}
                copiedLabel={t.copied}
                size="md"
                variant="primary"
              >
                {t.copy}
              </CopyButton>
            </div>
          </div>
        </div>
        <section aria-label={t.clicks} aria-live="polite" className="border-t border-line px-5 py-4">
          {clicks.length === 0 ? (
            <Loading visible label={state === "paused" ? t.paused : t.waiting} />
          ) : (
            <>
              <h2 className="mb-1 font-semibold">
                {clicks.some(({ reason }) => reason === "counted") ? t.firstClick : t.onlyVisits}
              </h2>
              <ul>
                {clicks.map((click) => (
                  <ClickLine key={`${click.at} ${click.reason}`} click={click} />
                ))}
              </ul>
            </>
          )}
        </section>
      </Card>
      <NextSteps link={link} onAnother={onAnother} isClicked={clicks.length > 0} />
    </div>
  );
}

function ClickLine({ click }: { readonly click: LiveClick }) {
  const parts = [placeOf(click), deviceOf(click), sourceOf(click)];
  return (
    <li className="flex flex-wrap gap-x-3 border-b border-line py-2 last:border-b-0 last:pb-0">
      <time dateTime={click.at} title={formatDateTime(click.at)} className="num text-text-3">
        {formatClock(click.at)}
      </time>
      {parts.map((part, place) => (
        <span key={part} className={place === 0 ? "font-medium" : "text-text-2"}>
          {part}
        </span>
      ))}
      {click.reason !== "counted" && <span className="text-text-3">{t.notCounted[click.reason]}</span>}
    </li>
  );
}

function placeOf({ city, region, country }: LiveClick): string {
  const named = [city ?? region, country === null ? null : countryName(country)].filter((part) => part !== null);
  return named.length === 0 ? t.unknownPlace : named.join(", ");
}

function deviceOf({ browser, os, device }: LiveClick): string {
  const system = os === null ? null : (systems[os] ?? os);
  if (browser !== null && system !== null) return t.browserOnSystem(browser, system);
  return browser ?? system ?? device ?? t.unknownDevice;
}

function sourceOf({ referrer, source }: LiveClick): string {
  if (source === "qr") return t.scanned;
  return referrer === null ? t.direct : t.from(referrer);
}

/** As their makers write them. */
const systems: Readonly<Record<string, string>> = {
  ...{ windows: "Windows", macos: "macOS", ios: "iOS", android: "Android", linux: "Linux", chromeos: "ChromeOS" },
};

/** Fetched by the script: an `<img>` cannot say which workspace it is for. */
function QrPicture({ id, address }: { readonly id: string; readonly address: string }) {
  const [picture, setPicture] = useState<string | "failed">();
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round is another attempt
  useEffect(() => {
    const asked = new AbortController();
    let made: string | undefined;
    send("GET /api/links/{id}/qr", { path: { id }, query: { size: 512, margin: 2 }, signal: asked.signal })
      .then((answer) => answer.blob())
      .then((blob) => {
        if (asked.signal.aborted) return;
        made = URL.createObjectURL(blob);
        setPicture(made);
      })
      .catch(() => asked.signal.aborted || setPicture("failed"));
    return () => {
      asked.abort();
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [id, round]);
  const again = () => {
    setPicture(undefined);
    setRound(round + 1);
  };
  return (
    <div className="grid flex-none justify-items-center gap-1">
      <div className="grid size-36 place-items-center overflow-hidden rounded-2 border border-line bg-white">
        {picture === "failed" ? (
          <div className="grid gap-2 p-2 text-center text-12">
            {t.qrFailed}
            <Button size="sm" onClick={again}>
              {t.tryAgain}
            </Button>
          </div>
        ) : (
          picture !== undefined && <img src={picture} alt={t.qr(address)} className="size-full" />
        )}
      </div>
      {picture !== undefined && picture !== "failed" && (
        <a
          href={picture}
          download={`${address.replaceAll(/[^\w.-]/g, "-")}.svg`}
          className="rounded-1 text-12 text-text-2 hover:text-text max-sm:py-3"
        >
          {t.downloadQr}
        </a>
      )}
    </div>
  );
}

interface NextStepsProps {
  readonly link: ShortLink;
  readonly onAnother: () => void;
  readonly isClicked: boolean;
}

function NextSteps({ link, onAnother, isClicked }: NextStepsProps) {
  const { slug, can } = useWorkspace();
  const quiet = buttonClass({ variant: "quiet" });
  const params = { workspace: slug };
  return (
    <nav aria-label={t.next} className="flex flex-wrap justify-center gap-1.5 sm:-mx-16">
      <Link
        to="/w/$workspace/links/$link"
        params={{ ...params, link: link.id }}
        search={{}}
        className={buttonClass({ variant: isClicked ? "secondary" : "quiet" })}
      >
        <ChartNoAxesColumn className="size-3.5" aria-hidden />
        {t.report}
      </Link>
      <Button variant="quiet" icon={Plus} onClick={onAnother}>
        {t.another}
      </Button>
      {can("admin") && (
        <Link to="/w/$workspace/domains" params={params} search={{}} className={quiet}>
          <Globe className="size-3.5" aria-hidden />
          {t.domain}
        </Link>
      )}
      <Link to="/w/$workspace/import" params={params} search={{}} className={quiet}>
        <Download className="size-3.5" aria-hidden />
        {t.import}
      </Link>
      {can("admin") && (
        <Link to="/w/$workspace/members" params={params} search={{}} className={quiet}>
          <UserPlus className="size-3.5" aria-hidden />
          {t.invite}
        </Link>
      )}
    </nav>
  );
}
