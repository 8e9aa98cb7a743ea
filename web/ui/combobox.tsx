import { Combobox as Base } from "@base-ui/react/combobox";
import Check from "lucide-react/icons/check";
import ChevronDown from "lucide-react/icons/chevron-down";
import Plus from "lucide-react/icons/plus";
import X from "lucide-react/icons/x";
import { type KeyboardEvent, type ReactNode, type RefObject, useRef, useState } from "react";
import { cx } from "./class-names.ts";
import { useFieldControl, useFieldLabel } from "./field.tsx";
import { bareClass, boxClass } from "./input.tsx";
import { popupClass, popupEdgePx, popupGapPx, popupItemClass, popupMark } from "./popup.ts";

export interface ComboboxOption {
  readonly value: string;
  readonly label: string;
  /** Right of the label, quiet. */
  readonly remark?: string | undefined;
}

interface Suggestions {
  readonly options: readonly ComboboxOption[];
  /** When given, the caller searches (on the server) and the options are shown as they come. */
  readonly onQueryChange?: ((query: string) => void) | undefined;
  /** Shown instead of "nothing found" while suggestions are loading. */
  readonly loadingText?: string | undefined;
  readonly emptyText: string;
  /** Offers what was typed as a new value: (query) => `Create "${query}"`. */
  readonly createText?: ((query: string) => string) | undefined;
  /** Called before `onValueChange` gets the new value. */
  readonly onCreate?: ((query: string) => void) | undefined;
  readonly placeholder?: string | undefined;
  readonly disabled?: boolean | undefined;
  /** The accessible name outside a `Field`. */
  readonly label?: string | undefined;
}

/** More lines than a person reads. Typing narrows 5,000 tags down. */
const maxShown = 100;
const createPrefix = "\u0000create:";

interface ComboboxProps extends Suggestions {
  readonly value: string | null;
  readonly onValueChange: (value: string | null) => void;
  readonly clearLabel: string;
  readonly openLabel: string;
}

/** One value out of many. */
export function Combobox(props: ComboboxProps) {
  const { value, onValueChange, clearLabel, openLabel } = props;
  const selected = value === null ? null : optionOf(value, props.options);
  const [query, setQuery] = useState<string>();
  const anchor = useRef<HTMLSpanElement>(null);
  const shown = suggest(props, query === selected?.label ? "" : (query ?? ""), []);
  const control = useFieldControl({});
  const fieldLabel = useFieldLabel();
  return (
    <Base.Root<ComboboxOption>
      items={shown}
      filter={null}
      value={selected}
      isItemEqualToValue={isSame}
      autoHighlight
      disabled={props.disabled}
      onInputValueChange={(text) => {
        setQuery(text);
        props.onQueryChange?.(text);
      }}
      onValueChange={(option) => onValueChange(option ? accept(option, props) : null)}
      onOpenChange={(open) => {
        if (!open) setQuery(undefined);
      }}
    >
      <span ref={anchor} data-box="" className={cx(boxClass, "h-9 max-sm:h-11 pr-0")}>
        <Base.Input
          {...control}
          onKeyDown={keepOnEscape}
          aria-label={props.label ?? fieldLabel}
          placeholder={props.placeholder}
          className={cx(bareClass, "h-full w-full")}
        />
        <span className="flex h-full flex-none">
          <Base.Clear aria-label={clearLabel} className={cx(inlineButton, "data-visible:grid")}>
            <X className="size-3.5" />
          </Base.Clear>
          <Base.Trigger aria-label={openLabel} className={inlineButton}>
            <ChevronDown className="size-3.5" />
          </Base.Trigger>
        </span>
      </span>
      <List {...props} anchor={anchor} />
    </Base.Root>
  );
}

const inlineButton =
  "grid h-full w-8 max-sm:w-11 place-items-center rounded-2 text-text-3 hover:text-text focus-visible:-outline-offset-2";

interface MultiComboboxProps extends Suggestions {
  readonly values: readonly string[];
  readonly onValuesChange: (values: string[]) => void;
  readonly removeLabel: (label: string) => string;
}

/** Several values as chips: tags, countries, domains. */
export function MultiCombobox(props: MultiComboboxProps) {
  const { values, onValuesChange, removeLabel } = props;
  const selected = values.map((value) => optionOf(value, props.options));
  const [query, setQuery] = useState("");
  const anchor = useRef<HTMLDivElement>(null);
  const control = useFieldControl({});
  const fieldLabel = useFieldLabel();
  const search = (text: string) => {
    setQuery(text);
    props.onQueryChange?.(text);
  };
  return (
    <Base.Root<ComboboxOption, true>
      multiple
      items={suggest(props, query, selected)}
      filter={null}
      value={selected}
      isItemEqualToValue={isSame}
      autoHighlight
      disabled={props.disabled}
      inputValue={query}
      onInputValueChange={search}
      onValueChange={(options) => {
        onValuesChange([...new Set(options.map((option) => accept(option, props)))]);
        search("");
      }}
    >
      <Base.Chips
        ref={anchor}
        data-box=""
        className={cx(boxClass, "min-h-9 max-sm:min-h-11 flex-wrap gap-1 py-1 has-[[data-chip]]:pl-1")}
      >
        {selected.map((option) => (
          <Base.Chip
            key={option.value}
            data-chip=""
            aria-label={option.label}
            className="flex h-6 max-sm:h-9 max-w-full items-center rounded-1 bg-tint-6 pl-2 text-12 max-sm:text-14 text-tint-6-text outline-hidden focus-within:shadow-ring data-highlighted:shadow-ring"
          >
            <span className="truncate">{option.label}</span>
            <Base.ChipRemove
              aria-label={removeLabel(option.label)}
              className="grid h-full w-6 max-sm:w-9 flex-none place-items-center text-text-3 hover:text-text"
            >
              <X className="size-3" />
            </Base.ChipRemove>
          </Base.Chip>
        ))}
        <Base.Input
          {...control}
          onKeyDown={keepOnEscape}
          aria-label={props.label ?? fieldLabel}
          placeholder={selected.length === 0 ? props.placeholder : undefined}
          className={cx(bareClass, "h-6 max-sm:h-9 min-w-20 px-1 first:pl-0")}
        />
      </Base.Chips>
      <List {...props} anchor={anchor} />
    </Base.Root>
  );
}

interface ListProps extends Suggestions {
  readonly anchor: RefObject<HTMLElement | null>;
}

function List({ anchor, emptyText, loadingText }: ListProps): ReactNode {
  return (
    <Base.Portal>
      <Base.Positioner
        anchor={anchor}
        align="start"
        sideOffset={popupGapPx}
        collisionPadding={popupEdgePx}
        className="z-50 outline-hidden"
      >
        <Base.Popup
          {...popupMark}
          className={cx(
            popupClass,
            "max-h-[min(var(--available-height),320px)] w-(--anchor-width) min-w-40 overflow-y-auto overscroll-contain",
          )}
        >
          <Base.Empty className="px-3 py-2.5 text-text-3 empty:hidden">{loadingText ?? emptyText}</Base.Empty>
          <Base.List className="p-1 empty:hidden">
            {(option: ComboboxOption) => (
              <Base.Item key={option.value} value={option} className={popupItemClass}>
                {isCreated(option) && <Plus className="size-3.5" />}
                <span className="truncate">{option.label}</span>
                {option.remark && <span className="num ml-auto flex-none text-12 text-text-3">{option.remark}</span>}
                <Base.ItemIndicator className={option.remark ? "" : "ml-auto"}>
                  <Check className="size-3.5" />
                </Base.ItemIndicator>
              </Base.Item>
            )}
          </Base.List>
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  );
}

/** With its list closed, Esc belongs to the drawer around it. Base UI would clear the value. */
function keepOnEscape(event: KeyboardEvent<HTMLInputElement> & { preventBaseUIHandler: () => void }): void {
  const isOpen = event.currentTarget.getAttribute("aria-expanded") === "true";
  if (event.key === "Escape" && !isOpen) event.preventBaseUIHandler();
}

function suggest(props: Suggestions, query: string, selected: readonly ComboboxOption[]): ComboboxOption[] {
  const wanted = query.trim();
  const folded = wanted.toLocaleLowerCase();
  const all = props.onQueryChange
    ? props.options
    : props.options.filter((option) => option.label.toLocaleLowerCase().includes(folded));
  // "French" before "Canadian French".
  const begins = (option: ComboboxOption) => option.label.toLocaleLowerCase().startsWith(folded);
  const shown = folded === "" ? all.slice(0, maxShown) : sortedFirst(all, begins).slice(0, maxShown);
  const isKnown = [...props.options, ...selected].some((option) => option.label.toLocaleLowerCase() === folded);
  if (props.createText && wanted !== "" && !isKnown)
    shown.push({ value: createPrefix + wanted, label: props.createText(wanted) });
  return shown;
}

const sortedFirst = (all: readonly ComboboxOption[], isFirst: (option: ComboboxOption) => boolean) => [
  ...all.filter(isFirst),
  ...all.filter((option) => !isFirst(option)),
];

function isCreated(option: ComboboxOption): boolean {
  return option.value.startsWith(createPrefix);
}

function accept(option: ComboboxOption, props: Suggestions): string {
  if (!isCreated(option)) return option.value;
  const created = option.value.slice(createPrefix.length);
  props.onCreate?.(created);
  return created;
}

function isSame(a: ComboboxOption, b: ComboboxOption): boolean {
  return a.value === b.value;
}

/** A value that is not among the suggestions at the moment is still shown. */
function optionOf(value: string, options: readonly ComboboxOption[]): ComboboxOption {
  return options.find((option) => option.value === value) ?? { value, label: value };
}
