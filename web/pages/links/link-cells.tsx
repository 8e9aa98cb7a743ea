import { Link as RouterLink } from "@tanstack/react-router";
import FileIcon from "lucide-react/icons/file";
import type { ReactNode } from "react";
import type { Link, LinkTrend } from "../../api/generated.ts";
import { formatDate, formatDateTime, formatRelative } from "../../format.ts";
import { linksTexts as t } from "../../texts/links.ts";
import { LetterTile } from "../../ui/avatar.tsx";
import { Tag } from "../../ui/chip.tsx";
import { ShortAddress } from "../../ui/short-address.tsx";
import { Sparkline } from "../../ui/sparkline.tsx";
import { Skeleton } from "../../ui/states.tsx";
import { isOff } from "./link-status.tsx";
import { type Period, periodWords } from "./period.ts";

/** What the cells of a row show, for the table and for the list of phones. */
export const nameOf = ({ domain, code }: Pick<Link, "domain" | "code">): string => `${domain}/${code}`;

export function LinkTile({ link, size }: { readonly link: Link; readonly size?: "sm" | "lg" }) {
  const isFile = link.file !== null;
  return (
    <LetterTile name={isFile ? (link.fileName ?? "") : hostOf(link)} icon={isFile ? FileIcon : undefined} size={size} />
  );
}

/** Without "www.", so that the letter says something. */
function hostOf({ url }: Link): string {
  try {
    return new URL(url ?? "").hostname.replace(/^www\./, "");
  } catch {
    return "?";
  }
}

interface LinkNameProps {
  readonly link: Link;
  readonly workspace: string;
  readonly className?: string;
}

export function LinkName({ link, workspace, className = "" }: LinkNameProps) {
  return (
    <RouterLink
      to="/w/$workspace/links/$link"
      params={{ workspace, link: link.id }}
      search={{}}
      aria-label={nameOf(link)}
      className={`flex min-w-0 rounded-1 ${className}`}
      title={link.title === null ? nameOf(link) : `${nameOf(link)}\n${link.title}`}
    >
      <ShortAddress domain={link.domain} code={link.code} />
    </RouterLink>
  );
}

/** Without the scheme, which nearly all share. */
export function destinationOf({ url, file, fileName }: Link): string {
  if (file !== null) return fileName ?? t.deletedFile;
  return (url ?? "").replace(/^https?:\/\//, "").replace(/\/$/, "");
}

export function Tags({ tags }: { readonly tags: readonly string[] }) {
  const [first, ...more] = tags;
  if (first === undefined) return null;
  return (
    <span className="flex min-w-0 items-center gap-1.5" title={tags.join(", ")}>
      <Tag className="min-w-0 shrink">{first}</Tag>
      {more.length > 0 && <span className="num flex-none text-12 text-text-3">{t.moreTags(more.length)}</span>}
    </span>
  );
}

interface TrendProps {
  readonly link: Link;
  readonly trend: LinkTrend | undefined;
  readonly period: Period;
  readonly now: number;
  readonly width?: number;
  readonly height?: number;
}

export function Trend({ link, trend, period, now, width, height }: TrendProps) {
  if (trend === undefined) return <Skeleton className="w-[78px] max-w-full" />;
  const words = periodWords[period === "all" ? "30d" : period];
  return (
    <Sparkline
      // Today is not over: its few clicks would look like a fall.
      values={trend.series.length > 2 ? trend.series.slice(0, -1) : trend.series}
      quiet={isOff(link, now) || trend.clicks === 0}
      width={width}
      height={height}
      label={t.trendOf(nameOf(link), trend.clicks, words)}
    />
  );
}

export const clicksOf = (link: Link, trend: LinkTrend | undefined, period: Period): number | undefined =>
  period === "all" ? link.clicks : trend?.clicks;

/** "3 min ago", with the exact time in the title. */
export function Ago({
  at,
  now,
  empty,
}: {
  readonly at: string | null;
  readonly now: number;
  readonly empty: string;
}): ReactNode {
  if (at === null) return <span className="text-text-3">{empty}</span>;
  return (
    <time dateTime={at} title={formatDateTime(at)}>
      {formatRelative(Math.min(Date.parse(at), now), now)}
    </time>
  );
}

export function Day({ at }: { readonly at: string | null }): ReactNode {
  if (at === null) return <span className="text-text-3">{t.never}</span>;
  return (
    <time dateTime={at} title={formatDateTime(at)}>
      {formatDate(at)}
    </time>
  );
}
