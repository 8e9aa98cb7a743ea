import { lazy, Suspense, useState } from "react";
import type { LinkCounts } from "../../api/generated.ts";
import { formatDate, formatNumber } from "../../format.ts";
import { linksTexts as t } from "../../texts/links.ts";
import { AddChip, Chip, ChipSeparator, FilterChip, FilterWord } from "../../ui/chip.tsx";
import { Popover } from "../../ui/popover.tsx";
import { kindNames } from "./filter-names.ts";
import { type AddressChange, type FilterKind, filterKinds, isSet, type ListAddress, without } from "./list-address.ts";
import { useIsPhone } from "./use-is-phone.ts";
import type { SavedView } from "./views.ts";

interface FilterBarProps {
  readonly address: ListAddress;
  readonly counts: LinkCounts | undefined;
  readonly views: readonly SavedView[];
  /** The query of the current address, to mark its view. */
  readonly query: string;
  readonly onView: (view: SavedView) => void;
  readonly onChange: (change: AddressChange) => void;
}

/** Its suggestion lists are not needed before. */
const FilterPicker = lazy(() => import("./filter-picker.tsx").then((module) => ({ default: module.FilterPicker })));

const tabs = ["active", "expired", "disabled", "attention"] as const;
const phoneTabs = ["attention", "active", "expired", "disabled"] as const;

/** States with their numbers, saved views, the filters that are set, and the picker of another one. */
export function FilterBar({ address, counts, views, query, onView, onChange }: FilterBarProps) {
  const [picker, setPicker] = useState<FilterKind | "all">();
  const isPhone = useIsPhone();
  const set = filterKinds.filter((kind) => isSet(address, kind));
  const count = (value: number | undefined) =>
    value === undefined ? undefined : counts?.isPartial ? t.moreThan(formatNumber(value)) : formatNumber(value);
  return (
    <div className="mb-3 flex items-center gap-1.5 sm:flex-wrap max-sm:-mx-4 max-sm:gap-2 max-sm:overflow-x-auto max-sm:px-4 max-sm:[scrollbar-width:none] [&>*]:flex-none max-sm:[&>*]:max-w-none">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as part of the row */}
      <div role="group" aria-label={t.states} className="contents">
        <Chip
          pressed={address.state === undefined}
          count={count(counts?.all)}
          onClick={() => onChange({ state: undefined })}
        >
          {t.all}
        </Chip>
        {(isPhone ? phoneTabs : tabs)
          .filter((state) => state !== "attention" || address.state === state || (counts?.attention ?? 0) > 0)
          .map((state) => (
            <Chip
              key={state}
              pressed={address.state === state}
              count={count(counts?.[state])}
              dot={state === "attention" ? "warn" : undefined}
              onClick={() => onChange({ state: address.state === state ? undefined : state })}
            >
              {t[state]}
            </Chip>
          ))}
        {(address.state === "suspended" || (counts?.suspended ?? 0) > 0) && (
          <Chip
            pressed={address.state === "suspended"}
            count={count(counts?.suspended)}
            dot="bad"
            onClick={() => onChange({ state: address.state === "suspended" ? undefined : "suspended" })}
          >
            {t.suspended}
          </Chip>
        )}
      </div>
      <ChipSeparator />
      {views.map((view) => (
        <Chip key={view.name} pressed={view.query === query} onClick={() => onView(view)}>
          {view.name}
        </Chip>
      ))}
      {set.map((kind) => (
        <FilterChip
          key={kind}
          removeLabel={t.removeFilter(kindNames[kind])}
          onRemove={() => onChange(without[kind])}
          onEdit={() => setPicker(kind)}
        >
          <FilterSentence kind={kind} address={address} />
        </FilterChip>
      ))}
      <Popover
        label={t.addFilter}
        className="w-80"
        open={picker !== undefined}
        onOpenChange={(open) => setPicker(open ? "all" : undefined)}
        trigger={<AddChip>{t.filter}</AddChip>}
      >
        {picker !== undefined && (
          <Suspense>
            <FilterPicker
              key={picker}
              kind={picker === "all" ? undefined : picker}
              address={address}
              onKind={(kind) => setPicker(kind ?? "all")}
              onChange={onChange}
              onClose={() => setPicker(undefined)}
            />
          </Suspense>
        )}
      </Popover>
    </div>
  );
}

function FilterSentence({ kind, address }: { readonly kind: FilterKind; readonly address: ListAddress }) {
  switch (kind) {
    case "domain":
      return <Values word={t.domainIs} values={address.domains} between={t.or} />;
    case "tag":
      return <Values word={t.tagIs} values={address.tags} between={address.match === "any" ? t.or : t.and} />;
    case "created":
      return <Values word={t.createdIs} values={[createdWords(address)]} between="" />;
    case "expires":
      return (
        <Values
          word={t.expiresIs}
          values={[
            address.expiresDays === undefined
              ? t.before(formatDate(`${address.expiresBefore}T12:00`))
              : t.nextDays(address.expiresDays),
          ]}
          between=""
        />
      );
    default:
      return <Values word={kindNames[kind]} values={[address[kind] ? t.yes : t.no]} between="" />;
  }
}

function createdWords({ createdDays, createdAfter, createdBefore }: ListAddress): string {
  const day = (date: string) => formatDate(`${date}T12:00`);
  if (createdDays !== undefined) return t.lastDays(createdDays);
  if (createdAfter !== undefined && createdBefore !== undefined)
    return t.between(day(createdAfter), day(createdBefore));
  return createdAfter === undefined ? t.before(day(createdBefore ?? "")) : t.after(day(createdAfter));
}

const namedMost = 2;

interface ValuesProps {
  readonly word: string;
  readonly values: readonly string[];
  readonly between: string;
}

function Values({ word, values, between }: ValuesProps) {
  const named = values.slice(0, namedMost);
  return (
    <>
      <FilterWord>{word}</FilterWord>
      {named.map((value, place) => (
        <span key={value}>
          {place > 0 && (
            <>
              {" "}
              <FilterWord>{between}</FilterWord>
            </>
          )}{" "}
          <span className="inline-block max-w-44 truncate align-bottom">{value}</span>
        </span>
      ))}
      {values.length > namedMost && (
        <>
          {" "}
          <FilterWord>{t.moreTags(values.length - namedMost)}</FilterWord>
        </>
      )}
    </>
  );
}
