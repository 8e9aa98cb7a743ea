import { useQuery } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import type { OperatedWorkspace } from "../../api/generated.ts";
import { listQuery } from "../../api/queries.ts";
import { DraftNotice } from "../../draft-notice.tsx";
import { fieldErrorsOf, useEdits } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { operatorTexts as t } from "../../texts/operator.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import { wholeNumberOf } from "../../whole-number.ts";
import { type LimitName, limitNames, shownLimit } from "./limit-fields.ts";
import { useChange } from "./use-change.ts";

interface LimitsProps {
  readonly workspace: OperatedWorkspace;
  readonly onClose: () => void;
}

export function WorkspaceLimits({ workspace, onClose }: LimitsProps) {
  const { data: plans } = useQuery(listQuery("", "GET /api/operator/plans"));
  const before = choicesOf(workspace);
  const edits = useEdits<Fields>(`limits:${workspace.id}`, { ...before, plan: workspace.plan });
  const { plan, ...limits } = edits.values;
  const forget = () => {
    edits.discard();
    onClose();
  };
  const planLimits = plans?.items.find(({ name }) => name === plan)?.limits;
  const save = useChange(
    () => {
      const changed = limitNames.filter((name) => sentAs(limits[name]) !== sentAs(before[name]));
      const sent = Object.fromEntries(changed.map((name) => [name, sentAs(limits[name])]));
      return call("PATCH /api/operator/workspaces/{workspace}", {
        path: { workspace: workspace.id },
        body: { ...(plan !== workspace.plan && { plan }), ...(changed.length > 0 && { limits: sent }) },
      });
    },
    { onDone: forget },
  );
  const errors = fieldErrorsOf(save.error);
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={t.editTitle(workspace.name)}
      description={t.limitHint}
      closeLabel={commonTexts.close}
      footer={
        <>
          <Button onClick={forget}>{commonTexts.cancel}</Button>
          <Button variant="primary" loading={save.isPending} onClick={() => save.mutate()}>
            {commonTexts.save}
          </Button>
        </>
      }
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <div className="empty:hidden sm:col-span-2">
          <DraftNotice edits={edits} />
        </div>
        <Field label={t.plan} error={errors.plan} className="sm:col-span-2">
          <Select
            value={plan}
            onValueChange={(chosen) => edits.set({ plan: chosen })}
            options={(plans?.items ?? [{ name: plan }]).map(({ name }) => ({ value: name, label: name }))}
          />
        </Field>
        {limitNames.map((name) => (
          <LimitField
            key={name}
            name={name}
            choice={limits[name]}
            ofPlan={planLimits?.[name]}
            error={errors[`limits.${name}`]}
            onChange={(choice) => edits.set({ [name]: choice })}
          />
        ))}
      </div>
    </Dialog>
  );
}

/** `text`: what was typed last, also while another choice is shown. */
interface LimitChoice {
  readonly from: "plan" | "none" | "own";
  readonly text: string;
}

type Fields = Readonly<Record<LimitName, LimitChoice> & { plan: string }>;

/** An override that is null is "no limit", and one that is missing is the plan's. */
const choicesOf = ({ overrides }: OperatedWorkspace): Readonly<Record<LimitName, LimitChoice>> =>
  Object.fromEntries(
    limitNames.map((name): [LimitName, LimitChoice] => {
      const own = overrides[name];
      if (own === undefined) return [name, { from: "plan", text: "" }];
      return [name, own === null ? { from: "none", text: "" } : { from: "own", text: String(own) }];
    }),
  ) as Record<LimitName, LimitChoice>;

/** An own limit that is empty is refused by the API, at its field. */
function sentAs({ from, text }: LimitChoice): number | null | string {
  if (from === "plan") return "plan";
  return from === "none" ? null : (wholeNumberOf(text) ?? "");
}

interface LimitFieldProps {
  readonly name: LimitName;
  readonly choice: LimitChoice;
  /** Undefined while plans are loaded. */
  readonly ofPlan: number | null | undefined;
  readonly error: string | undefined;
  readonly onChange: (choice: LimitChoice) => void;
}

function LimitField({ name, choice, ofPlan, error, onChange }: LimitFieldProps) {
  const plan = ofPlan === undefined ? t.limitFrom.planUnknown : t.limitFrom.plan(shownLimit(ofPlan, name));
  const label = t.limitNames[name];
  return (
    <div className="grid content-start gap-2">
      <Field label={label} error={choice.from === "own" ? undefined : error}>
        <Select
          value={choice.from}
          onValueChange={(from) => onChange({ ...choice, from: from as LimitChoice["from"] })}
          options={[
            { value: "plan", label: plan },
            { value: "none", label: t.limitFrom.none },
            { value: "own", label: t.limitFrom.own },
          ]}
        />
      </Field>
      {choice.from === "own" && (
        <Field label={t.ownLimit(label)} hideLabel error={error}>
          <Input
            inputMode="numeric"
            value={choice.text}
            onChange={(event) => onChange({ ...choice, text: event.target.value })}
          />
        </Field>
      )}
    </div>
  );
}
