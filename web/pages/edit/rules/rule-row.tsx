import ArrowDown from "lucide-react/icons/arrow-down";
import ArrowRight from "lucide-react/icons/arrow-right";
import ArrowUp from "lucide-react/icons/arrow-up";
import GripVertical from "lucide-react/icons/grip-vertical";
import X from "lucide-react/icons/x";
import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { readerZone } from "../../../format.ts";
import { editTexts, ruleTexts as t } from "../../../texts/edit.ts";
import { IconButton } from "../../../ui/button.tsx";
import { cx } from "../../../ui/class-names.ts";
import { FieldError } from "../../../ui/field.tsx";
import type { RuleForm } from "../link-form.ts";
import { AddCondition, ConditionChip } from "./condition-chip.tsx";
import { begin, type ConditionKind, conditionKinds, conditionsOf, isSet, type When, without } from "./conditions.ts";

interface RuleRowProps {
  readonly rule: RuleForm;
  readonly place: number;
  readonly count: number;
  readonly errors: readonly string[];
  readonly urlError: string | undefined;
  readonly disabled: boolean;
  readonly onChange: (rule: RuleForm) => void;
  readonly onRemove: () => void;
  readonly onMove: (by: -1 | 1) => void;
  readonly onGrab: (event: PointerEvent<HTMLElement>) => void;
  readonly isDragged: boolean;
  /** The condition whose picker is open: that of a new rule. */
  readonly startsAt: ConditionKind | undefined;
}

/** "If country is Germany or Austria → example.com/de". Each value opens its picker. */
export function RuleRow(props: RuleRowProps) {
  const { rule, place, count, errors, urlError, disabled, onChange, onMove } = props;
  const [opened, setOpened] = useState(props.startsAt);
  const conditions = conditionsOf(rule.when);
  const free = conditionKinds.filter((kind) => !isSet(rule.when, kind));
  const change = (when: When) => onChange({ ...rule, when });
  const move = (event: KeyboardEvent) => {
    const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : undefined;
    if (by === undefined) return;
    event.preventDefault();
    onMove(by);
  };
  const add = !disabled && free.length > 0 && (
    <AddCondition
      kinds={free}
      isFirst={conditions.length === 0}
      onAdd={(kind) => {
        change({ ...rule.when, ...begin(kind, readerZone()) });
        setOpened(kind);
      }}
    />
  );
  return (
    <li
      data-rule={rule.key}
      aria-label={t.rule(place)}
      className={cx("group/rule grid grid-cols-[minmax(0,1fr)] border-b border-line", props.isDragged && "bg-selected")}
      onKeyDown={(event) => event.altKey && move(event)}
    >
      <div className="flex min-h-10 items-start gap-1 py-[5px] pr-1 pl-1">
        {!disabled && (
          <button
            type="button"
            aria-label={t.grip(place, count)}
            onPointerDown={props.onGrab}
            onKeyDown={(event) => !event.altKey && move(event)}
            className="grid h-7 w-6 max-sm:h-11 max-sm:w-8 flex-none cursor-grab touch-none place-items-center rounded-1 text-text-3 hover:text-text active:cursor-grabbing"
          >
            <GripVertical className="size-3.5" />
          </button>
        )}
        <div className="flex min-h-7 min-w-0 flex-1 flex-wrap items-center gap-x-1.5 gap-y-1 max-sm:min-h-11">
          <span className="text-text-2">{t.if}</span>
          {conditions.map((condition, at) => (
            <span key={condition.kind} className="flex max-w-full min-w-0 items-center gap-1.5">
              {at > 0 && <span className="flex-none text-text-2">{editTexts.and}</span>}
              <ConditionChip
                condition={condition}
                when={rule.when}
                disabled={disabled}
                open={opened === condition.kind}
                onOpenChange={(isOpen) => setOpened(isOpen ? condition.kind : undefined)}
                onChange={change}
                onRemove={conditions.length > 1 ? () => change(without(rule.when, condition.kind)) : undefined}
              />
              {at === conditions.length - 1 && add}
            </span>
          ))}
          {conditions.length === 0 && add}
          <span className="flex min-w-32 flex-1 items-center gap-1.5">
            <ArrowRight className="size-3.5 text-text-3" />
            <input
              type="url"
              aria-label={t.to(place)}
              aria-invalid={urlError ? true : undefined}
              value={rule.url}
              readOnly={disabled}
              title={rule.url}
              placeholder={t.toPlaceholder}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              onChange={(event) => onChange({ ...rule, url: event.target.value })}
              className="h-7 max-sm:h-11 min-w-0 flex-1 rounded-1 bg-transparent px-1 max-sm:text-16 text-ellipsis placeholder:text-text-3 hover:bg-hover focus:bg-hover aria-invalid:outline-2 aria-invalid:outline-bad"
            />
          </span>
        </div>
        {!disabled && (
          <div className="relative flex min-h-7 flex-none items-center max-sm:flex-col">
            <IconButton icon={X} label={t.remove(place)} size="xs" className="sm:order-last" onClick={props.onRemove} />
            {count > 1 && (
              <span className="flex rounded-1 bg-surface sm:absolute sm:right-full sm:opacity-0 sm:group-focus-within/rule:opacity-100 sm:group-hover/rule:opacity-100">
                <IconButton
                  icon={ArrowUp}
                  label={t.up(place)}
                  size="xs"
                  className={place === 1 ? "max-sm:hidden" : ""}
                  disabled={place === 1}
                  onClick={() => onMove(-1)}
                />
                <IconButton
                  icon={ArrowDown}
                  label={t.down(place)}
                  size="xs"
                  className="max-sm:hidden"
                  disabled={place === count}
                  onClick={() => onMove(1)}
                />
              </span>
            )}
          </div>
        )}
      </div>
      {[...errors, ...(urlError ? [urlError] : [])].map((error) => (
        <div key={error} className="px-8 pb-2">
          <FieldError>{error}</FieldError>
        </div>
      ))}
    </li>
  );
}
