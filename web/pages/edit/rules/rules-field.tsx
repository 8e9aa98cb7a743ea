import ArrowRight from "lucide-react/icons/arrow-right";
import Plus from "lucide-react/icons/plus";
import { type PointerEvent, useRef, useState } from "react";
import { formatRoundPercent, readerZone } from "../../../format.ts";
import { destinationTexts, editTexts, ruleTexts as t } from "../../../texts/edit.ts";
import { Button } from "../../../ui/button.tsx";
import { FieldSet } from "../../../ui/field.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { useFileName } from "../destination-field.tsx";
import type { Editor } from "../editor.ts";
import { newKey, type RuleForm, shortly } from "../link-form.ts";
import { begin, type ConditionKind, conditionKinds } from "./conditions.ts";
import { RuleRow } from "./rule-row.tsx";
import { sharesOf } from "./simulate.ts";

const rulesMost = 50;

/** Rules run from the top and end with "Otherwise". */
export function RulesField({ editor, disabled }: { readonly editor: Editor; readonly disabled: boolean }) {
  const { form, set, errorOf } = editor;
  const { rules } = form;
  const toast = useToast();
  const list = useRef<HTMLOListElement>(null);
  const [said, setSaid] = useState("");
  const [added, setAdded] = useState<{ readonly key: string; readonly kind: ConditionKind }>();
  const [dragged, setDragged] = useState<string>();
  const setRules = (next: readonly RuleForm[]) => set({ rules: next });
  const moveTo = (key: string, target: number) => {
    const from = rules.findIndex((rule) => rule.key === key);
    const moved = rules[from];
    if (moved === undefined || target < 0 || target >= rules.length || target === from) return;
    setRules(rules.toSpliced(from, 1).toSpliced(target, 0, moved));
    setSaid(t.moved(target + 1, rules.length));
    // A row that moves in the document loses the focus.
    const focused = document.activeElement;
    requestAnimationFrame(() => focused instanceof HTMLElement && focused.isConnected && focused.focus());
  };
  const remove = (at: number) => {
    const before = rules;
    setRules(rules.toSpliced(at, 1));
    toast({ message: t.removed, action: { label: editTexts.undo, onAction: () => setRules(before) } });
  };
  const drag = useRowDrag(list, moveTo, setDragged);
  if (disabled && rules.length === 0) return null;
  return (
    <FieldSet legend={t.label} remark={rules.length > 0 ? t.remark : undefined} error={errorOf("rules")}>
      {rules.length > 0 && (
        <ol ref={list} className="overflow-hidden rounded-2 border border-line-strong">
          {rules.map((rule, at) => (
            <RuleRow
              key={rule.key}
              rule={rule}
              place={at + 1}
              count={rules.length}
              disabled={disabled}
              urlError={errorOf(`rules.${at}.url`)}
              errors={ruleErrors(editor, at)}
              startsAt={added?.key === rule.key ? added.kind : undefined}
              isDragged={dragged === rule.key}
              onChange={(next) => setRules(rules.with(at, next))}
              onRemove={() => remove(at)}
              onMove={(by) => moveTo(rule.key, at + by)}
              onGrab={(event) => drag(event, rule.key)}
            />
          ))}
          <Otherwise editor={editor} />
        </ol>
      )}
      {!disabled && rules.length < rulesMost && (
        <div className="-ml-2">
          <Menu
            align="start"
            trigger={
              <Button variant="quiet" size="sm" icon={Plus} className="text-accent-text! hover:text-accent-text!">
                {t.add}
              </Button>
            }
          >
            {conditionKinds.map((kind) => (
              <MenuItem
                key={kind}
                onSelect={() => {
                  const key = newKey();
                  setAdded({ key, kind });
                  setRules([...rules, { key, when: begin(kind, readerZone()), url: "" }]);
                }}
              >
                {t[kind]}
              </MenuItem>
            ))}
          </Menu>
        </div>
      )}
      <span role="status" className="sr-only">
        {said}
      </span>
    </FieldSet>
  );
}

/** All about this rule except its address, which has its own place. */
const ruleErrors = ({ errorsBelow }: Editor, at: number): string[] => [
  ...new Set(errorsBelow(`rules.${at}`, `rules.${at}.url`)),
];

function Otherwise({ editor: { form } }: { readonly editor: Editor }) {
  const file = useFileName(form.kind === "file" ? form.file : null);
  const shares = sharesOf(form.split.map(({ weight }) => weight));
  const own = form.kind === "file" ? (file ?? destinationTexts.file) : shortly(form.url);
  const target =
    form.split.length > 0
      ? form.split.map(({ url }, at) => `${formatRoundPercent(shares[at] ?? 0)} ${shortly(url)}`).join(" · ")
      : own;
  return (
    <li className="flex min-h-10 items-center gap-1.5 px-3 pl-8 text-text-2">
      <span className="flex-none">{t.otherwise}</span>
      <ArrowRight className="size-3.5 text-text-3" />
      <span className="min-w-0 truncate" title={target}>
        {target}
      </span>
    </li>
  );
}

/** Rows change places while one is dragged, by mouse, pen or finger. */
function useRowDrag(
  list: React.RefObject<HTMLOListElement | null>,
  moveTo: (key: string, target: number) => void,
  setDragged: (key: string | undefined) => void,
) {
  const latest = useRef(moveTo);
  latest.current = moveTo;
  return (event: PointerEvent<HTMLElement>, key: string) => {
    if (event.button !== 0) return;
    event.preventDefault();
    event.currentTarget.focus();
    setDragged(key);
    const move = ({ clientY }: globalThis.PointerEvent) => {
      const rows = [...(list.current?.querySelectorAll<HTMLElement>("[data-rule]") ?? [])];
      const from = rows.findIndex((row) => row.dataset.rule === key);
      const target = rows.findIndex((row) => {
        const { top, bottom } = row.getBoundingClientRect();
        return clientY >= top && clientY < bottom;
      });
      const box = rows[target]?.getBoundingClientRect();
      if (box === undefined || target === from) return;
      // Only past the middle, or rows of different heights would swap back and forth.
      const middle = box.top + box.height / 2;
      if (target > from ? clientY > middle : clientY < middle) latest.current(key, target);
    };
    const end = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
      setDragged(undefined);
    };
    // On the window: a row that changes its place in the document loses its pointer.
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
  };
}
