import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { OperatedWorkspace } from "../../api/generated.ts";
import { listQuery } from "../../api/queries.ts";
import { fieldErrorsOf } from "../../forms.ts";
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
  const [plan, setPlan] = useState(workspace.plan);
  const overridden = (name: LimitName) => workspace.overrides[name];
  const [texts, setTexts] = useState(
    () =>
      Object.fromEntries(limitNames.map((name) => [name, String(overridden(name) ?? "")])) as Record<LimitName, string>,
  );
  const planLimits = plans?.items.find(({ name }) => name === plan)?.limits;
  const save = useChange(
    () => {
      const changed = limitNames.filter((name) => texts[name].trim() !== String(overridden(name) ?? ""));
      const limits = Object.fromEntries(changed.map((name) => [name, wholeNumberOf(texts[name]) ?? "plan"]));
      return call("PATCH /api/operator/workspaces/{workspace}", {
        path: { workspace: workspace.id },
        body: { ...(plan !== workspace.plan && { plan }), ...(changed.length > 0 && { limits }) },
      });
    },
    { onDone: onClose },
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
          <Button onClick={onClose}>{commonTexts.cancel}</Button>
          <Button variant="primary" loading={save.isPending} onClick={() => save.mutate()}>
            {commonTexts.save}
          </Button>
        </>
      }
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t.plan} error={errors.plan} className="sm:col-span-2">
          <Select
            value={plan}
            onValueChange={setPlan}
            options={(plans?.items ?? [{ name: plan }]).map(({ name }) => ({ value: name, label: name }))}
          />
        </Field>
        {limitNames.map((name) => (
          <Field key={name} label={t.limitNames[name]} error={errors[`limits.${name}`]}>
            <Input
              inputMode="numeric"
              value={texts[name]}
              placeholder={planLimits && shownLimit(planLimits[name])}
              onChange={(event) => setTexts({ ...texts, [name]: event.target.value })}
            />
          </Field>
        ))}
      </div>
    </Dialog>
  );
}
