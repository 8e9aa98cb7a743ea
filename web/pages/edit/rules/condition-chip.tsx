import Plus from "lucide-react/icons/plus";
import { Fragment } from "react";
import { formatNumber } from "../../../format.ts";
import { editTexts, ruleTexts as t } from "../../../texts/edit.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { cx } from "../../../ui/class-names.ts";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { Popover, PopoverClose } from "../../../ui/popover.tsx";
import { ConditionPicker } from "./condition-picker.tsx";
import type { Condition, ConditionKind, When } from "./conditions.ts";

interface ConditionChipProps {
  readonly condition: Condition;
  readonly when: When;
  readonly disabled: boolean;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onChange: (when: When) => void;
  readonly onRemove: (() => void) | undefined;
}

const shownMost = 3;

/** A condition as words; pressing them opens its picker. */
export function ConditionChip(props: ConditionChipProps) {
  const { condition, when, disabled, open, onOpenChange, onChange, onRemove } = props;
  const { kind, lead, values } = condition;
  const shown = values.length > shownMost + 1 ? values.slice(0, shownMost) : values;
  const rest = values.slice(shown.length);
  const word = "max-w-full truncate rounded-1 bg-pressed px-1.5 leading-[22px] text-text";
  const words =
    values.length === 0 ? [t.choose] : [...shown, ...(rest.length > 0 ? [t.more(formatNumber(rest.length))] : [])];
  return (
    <span className="flex max-w-full min-w-0 flex-wrap items-center gap-x-1.5 gap-y-1">
      <span aria-hidden="true" className="text-text-2">
        {lead}
      </span>
      <Popover
        label={t[kind]}
        open={open}
        onOpenChange={onOpenChange}
        trigger={
          <button
            type="button"
            disabled={disabled}
            className="flex max-w-full min-w-0 flex-wrap items-center gap-x-1.5 gap-y-1 rounded-1 max-sm:min-h-11"
          >
            <span className="sr-only">{lead} </span>
            {words.map((value, at) => (
              <Fragment key={value}>
                {at > 0 && <span className="text-text-2"> {editTexts.or} </span>}
                <span
                  title={value}
                  className={cx(
                    word,
                    values.length === 0 && "text-text-3 outline-1 outline-line-control outline-dashed",
                  )}
                >
                  {value}
                </span>
              </Fragment>
            ))}
          </button>
        }
      >
        <div className="grid gap-3">
          <ConditionPicker kind={kind} when={when} onChange={onChange} />
          <div className="flex justify-between gap-2">
            {onRemove ? (
              <Button size="sm" variant="quiet" onClick={onRemove}>
                {t.removeCondition}
              </Button>
            ) : (
              <span />
            )}
            <PopoverClose
              render={
                <Button size="sm" variant="primary">
                  {t.done}
                </Button>
              }
            />
          </div>
        </div>
      </Popover>
    </span>
  );
}

interface AddConditionProps {
  readonly kinds: readonly ConditionKind[];
  readonly isFirst: boolean;
  readonly onAdd: (kind: ConditionKind) => void;
}

export function AddCondition({ kinds, isFirst, onAdd }: AddConditionProps) {
  return (
    <Menu
      align="start"
      trigger={
        isFirst ? (
          <button type="button" className="rounded-1 bg-pressed px-1.5 leading-[22px] text-text-2 max-sm:min-h-11">
            {t.addCondition}
          </button>
        ) : (
          <IconButton icon={Plus} size="xs" label={t.addCondition} className="text-text-3" />
        )
      }
    >
      {kinds.map((kind) => (
        <MenuItem key={kind} onSelect={() => onAdd(kind)}>
          {t[kind]}
        </MenuItem>
      ))}
    </Menu>
  );
}
