import type { Link, LinkTrend } from "../../api/generated.ts";
import { formatNumber } from "../../format.ts";
import { linksTexts as t } from "../../texts/links.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Status } from "../../ui/chip.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Skeleton } from "../../ui/states.tsx";
import { clicksOf, destinationOf, LinkName, LinkTile, nameOf, Trend } from "./link-cells.tsx";
import { statusOf } from "./link-status.tsx";
import type { Period } from "./period.ts";
import type { Selection } from "./use-selection.ts";

interface PhoneListProps {
  readonly links: readonly Link[];
  readonly trends: ReadonlyMap<string, LinkTrend>;
  readonly period: Period;
  readonly selection: Selection;
  readonly workspace: string;
  readonly canWrite: boolean;
  readonly now: number;
  readonly onCopied: (link: Link) => void;
}

/** Instead of the table below 640 px. A row opens, its tile selects; the second line is the destination, or the problem. */
export function PhoneList({ links, trends, period, selection, workspace, canWrite, now, onCopied }: PhoneListProps) {
  return (
    <ul aria-label={t.table} className="-mx-4 border-t border-line bg-surface">
      {links.map((link) => {
        const trend = trends.get(link.id);
        const clicks = clicksOf(link, trend, period);
        const isSelected = selection.has(link.id);
        return (
          <li
            key={link.id}
            className={`relative grid min-h-[66px] grid-cols-[28px_minmax(0,1fr)_auto] items-center gap-x-3 px-4 py-2 after:absolute after:right-0 after:bottom-0 after:left-14 after:h-px after:bg-line last:after:hidden ${isSelected ? "bg-selected" : ""}`}
          >
            <Tile link={link} selection={selection} canWrite={canWrite} />
            <div className="min-w-0">
              <div className="flex min-w-0 items-center">
                <LinkName
                  link={link}
                  workspace={workspace}
                  className="text-[15px] leading-5 after:absolute after:inset-0"
                />
                <span className="relative z-1 -my-3 -ml-2 flex flex-none">
                  <CopyButton
                    text={link.shortUrl}
                    label={t.copy(nameOf(link))}
                    copiedLabel={t.copied(nameOf(link))}
                    onCopied={() => onCopied(link)}
                  />
                </span>
              </div>
              <SecondLine link={link} now={now} />
            </div>
            <div className="grid justify-items-end gap-1">
              <b className="num text-[15px] leading-5 font-medium">
                {clicks === undefined ? <Skeleton className="w-8" /> : formatNumber(clicks)}
              </b>
              <Trend link={link} trend={trend} period={period} now={now} width={56} height={16} />
            </div>
          </li>
        );
      })}
    </ul>
  );
}

function Tile({ link, selection, canWrite }: Pick<PhoneListProps, "selection" | "canWrite"> & { readonly link: Link }) {
  if (!canWrite) return <LinkTile link={link} size="lg" />;
  const isSelected = selection.has(link.id);
  if (selection.size > 0) {
    return (
      <span className="relative z-1 grid place-items-center">
        <Checkbox
          aria-label={t.select(nameOf(link))}
          checked={isSelected}
          onCheckedChange={(isOn) => selection.set(link, isOn)}
        />
      </span>
    );
  }
  return (
    <button
      type="button"
      aria-label={t.select(nameOf(link))}
      onClick={() => selection.set(link, true)}
      className="relative z-1 -m-2 grid size-11 place-items-center rounded-2"
    >
      <LinkTile link={link} size="lg" />
    </button>
  );
}

function SecondLine({ link, now }: { readonly link: Link; readonly now: number }) {
  const { tone, icon, text, more } = statusOf(link, now);
  if (tone === "ok") return <p className="truncate text-[13px] leading-[18px] text-text-3">{destinationOf(link)}</p>;
  return (
    <p title={more} className="flex text-[13px] leading-[18px]">
      <Status tone={tone} icon={icon}>
        {text}
      </Status>
    </p>
  );
}
