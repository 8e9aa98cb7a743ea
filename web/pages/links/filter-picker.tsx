import { useQuery } from "@tanstack/react-query";
import ArrowLeft from "lucide-react/icons/arrow-left";
import { useState } from "react";
import { listQuery } from "../../api/queries.ts";
import { linksTexts as t } from "../../texts/links.ts";
import { Button } from "../../ui/button.tsx";
import { RadioCards } from "../../ui/checkbox.tsx";
import { MultiCombobox } from "../../ui/combobox.tsx";
import { DateField } from "../../ui/date-field.tsx";
import { Field } from "../../ui/field.tsx";
import { popupItemClass } from "../../ui/popup.ts";
import { Select } from "../../ui/select.tsx";
import { useWorkspace } from "../../workspace.ts";
import { kindNames } from "./filter-names.ts";
import { type AddressChange, type FilterKind, filterKinds, type ListAddress, without } from "./list-address.ts";
import { TagPicker } from "./tag-picker.tsx";

interface FilterPickerProps {
  /** Undefined: which one is chosen first. */
  readonly kind: FilterKind | undefined;
  readonly address: ListAddress;
  readonly onKind: (kind: FilterKind | undefined) => void;
  readonly onChange: (change: AddressChange) => void;
  readonly onClose: () => void;
}

export function FilterPicker({ kind, address, onKind, onChange, onClose }: FilterPickerProps) {
  if (kind === undefined) {
    return (
      <ul ref={focusInside} className="-m-2 grid">
        {filterKinds.map((one) => (
          <li key={one}>
            <button
              type="button"
              className={`${popupItemClass} w-full cursor-pointer hover:bg-hover focus-visible:bg-hover`}
              onClick={() => onKind(one)}
            >
              {kindNames[one]}
            </button>
          </li>
        ))}
      </ul>
    );
  }
  return (
    <div ref={focusInside} className="grid gap-3">
      <Picker kind={kind} address={address} onChange={onChange} />
      <div className="flex justify-between gap-2">
        <Button variant="quiet" size="sm" icon={ArrowLeft} onClick={() => onKind(undefined)}>
          {t.back}
        </Button>
        <Button variant="primary" size="sm" onClick={onClose}>
          {t.done}
        </Button>
      </div>
    </div>
  );
}

/** When it appears: the button that was pressed is gone. A finger is not met by the keyboard of the phone. */
function focusInside(content: HTMLElement | null): void {
  if (content === null || matchMedia("(pointer: coarse)").matches) return;
  content.querySelector<HTMLElement>("input, select, button")?.focus({ preventScroll: true });
}

type PickerProps = Pick<FilterPickerProps, "address" | "onChange">;

function Picker({ kind, address, onChange }: PickerProps & { readonly kind: FilterKind }) {
  switch (kind) {
    case "domain":
      return <DomainPicker address={address} onChange={onChange} />;
    case "tag":
      return <TagsPicker address={address} onChange={onChange} />;
    case "created":
      return <CreatedPicker address={address} onChange={onChange} />;
    case "expires":
      return <ExpiresPicker address={address} onChange={onChange} />;
    case "password":
      return (
        <YesNo
          label={t.passwordIs}
          value={address.password}
          labels={[t.withPassword, t.withoutPassword]}
          onChoose={(password) => onChange({ password })}
        />
      );
    case "rules":
      return (
        <YesNo
          label={t.rulesIs}
          value={address.rules}
          labels={[t.withRules, t.withoutRules]}
          onChoose={(rules) => onChange({ rules })}
        />
      );
  }
}

function DomainPicker({ address, onChange }: PickerProps) {
  const { slug } = useWorkspace();
  const { data, isLoading } = useQuery({ ...listQuery(slug, "GET /api/domains", { limit: 100 }), staleTime: 60_000 });
  const hosts = [location.host, ...(data?.items.map(({ host }) => host) ?? [])];
  return (
    <Field label={t.domain}>
      <MultiCombobox
        values={address.domains}
        onValuesChange={(domain) => onChange({ domain })}
        options={hosts.map((host) => ({ value: host, label: host }))}
        loadingText={isLoading ? t.searching : undefined}
        emptyText={t.nothingFound}
        placeholder={t.chooseDomains}
        removeLabel={t.remove}
      />
    </Field>
  );
}

function TagsPicker({ address, onChange }: PickerProps) {
  return (
    <>
      <Field label={t.tags}>
        <TagPicker values={address.tags} onValuesChange={(tag) => onChange({ tag })} />
      </Field>
      {address.tags.length > 1 && (
        <Field label={t.match}>
          <Select
            value={address.match}
            options={[
              { value: "all", label: t.matchAll },
              { value: "any", label: t.matchAny },
            ]}
            onValueChange={(match) => onChange({ match: match === "all" ? undefined : match })}
          />
        </Field>
      )}
    </>
  );
}

const createdDays = [7, 30, 90, 365] as const;
const expiresDays = [7, 30, 90] as const;

function CreatedPicker({ address, onChange }: PickerProps) {
  const { createdDays: days, createdAfter = "", createdBefore = "" } = address;
  const [isOwn, setOwn] = useState(createdAfter !== "" || createdBefore !== "");
  const value = isOwn ? "own" : days === undefined ? "" : `${days}d`;
  const options = [
    { value: "", label: t.anyTime },
    ...createdDays.map((one) => ({ value: `${one}d`, label: t.lastDays(one) })),
    { value: "own", label: t.ownDates },
  ];
  return (
    <>
      <Field label={t.created}>
        <Select
          value={value}
          options={options}
          onValueChange={(chosen) => {
            setOwn(chosen === "own");
            onChange({ ...without.created, ...(chosen !== "own" && chosen !== "" && { created: chosen }) });
          }}
        />
      </Field>
      {isOwn && (
        <div className="grid gap-2 sm:grid-cols-2">
          <Field label={t.from}>
            <DateField
              kind="date"
              value={createdAfter}
              onValueChange={(date) => onChange({ created: undefined, createdAfter: date })}
            />
          </Field>
          <Field label={t.until}>
            <DateField
              kind="date"
              value={createdBefore}
              onValueChange={(date) => onChange({ created: undefined, createdBefore: date })}
            />
          </Field>
        </div>
      )}
    </>
  );
}

function ExpiresPicker({ address, onChange }: PickerProps) {
  const { expiresDays: days, expiresBefore = "" } = address;
  const [isOwn, setOwn] = useState(expiresBefore !== "");
  const options = [
    { value: "", label: t.anyTime },
    ...expiresDays.map((one) => ({ value: `${one}d`, label: t.nextDays(one) })),
    { value: "own", label: t.beforeDate },
  ];
  return (
    <>
      <Field label={t.expires}>
        <Select
          value={isOwn ? "own" : days === undefined ? "" : `${days}d`}
          options={options}
          onValueChange={(chosen) => {
            setOwn(chosen === "own");
            onChange({ ...without.expires, ...(chosen !== "own" && chosen !== "" && { expires: chosen }) });
          }}
        />
      </Field>
      {isOwn && (
        <Field label={t.until}>
          <DateField
            kind="date"
            value={expiresBefore}
            onValueChange={(date) => onChange({ expires: undefined, expiresBefore: date })}
          />
        </Field>
      )}
    </>
  );
}

interface YesNoProps {
  readonly label: string;
  readonly value: boolean | undefined;
  readonly labels: readonly [string, string];
  readonly onChoose: (value: string) => void;
}

function YesNo({ label, value, labels, onChoose }: YesNoProps) {
  return (
    <RadioCards
      label={label}
      value={value === undefined ? undefined : value ? "yes" : "no"}
      onValueChange={onChoose}
      options={[
        { value: "yes", label: labels[0] },
        { value: "no", label: labels[1] },
      ]}
    />
  );
}
