import { useQuery } from "@tanstack/react-query";
import Plus from "lucide-react/icons/plus";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { Plan } from "../../api/generated.ts";
import { listQuery } from "../../api/queries.ts";
import { DraftNotice } from "../../draft-notice.tsx";
import { fieldErrorsOf, useEdits } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { operatorTexts as t } from "../../texts/operator.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Badge } from "../../ui/chip.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { wholeNumberOf } from "../../whole-number.ts";
import { type LimitName, limitNames, shownLimit } from "./limit-fields.ts";
import { Loaded } from "./loaded.tsx";
import { useChange } from "./use-change.ts";

export function PlansView() {
  const plans = useQuery(listQuery("", "GET /api/operator/plans"));
  const [editing, setEditing] = useState<Plan | "new">();
  return (
    <>
      <p className="mb-4">
        <Button icon={Plus} onClick={() => setEditing("new")}>
          {t.newPlan}
        </Button>
      </p>
      <Loaded query={plans}>
        {({ items }) => (
          <ul className="grid gap-4 md:grid-cols-2 lg:grid-cols-3">
            {items.map((plan) => (
              <li key={plan.name}>
                <Card padded>
                  <div className="mb-2 flex items-center gap-2">
                    <h2 className="text-14 font-semibold">{plan.name}</h2>
                    {plan.builtIn && <Badge tone="quiet">{t.builtIn}</Badge>}
                    {!plan.builtIn && (
                      <Button size="sm" className="ml-auto" onClick={() => setEditing(plan)}>
                        {commonTexts.edit}
                      </Button>
                    )}
                  </div>
                  <dl className="grid gap-1">
                    {limitNames.map((name) => (
                      <div key={name} className="flex justify-between gap-3">
                        <dt className="text-text-2">{t.limitNames[name]}</dt>
                        <dd className="num">{shownLimit(plan.limits[name], name)}</dd>
                      </div>
                    ))}
                  </dl>
                </Card>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {editing && (
        <PlanDialog
          plan={editing === "new" ? undefined : editing}
          taken={plans.data?.items.map(({ name }) => name) ?? []}
          onClose={() => setEditing(undefined)}
        />
      )}
    </>
  );
}

interface PlanDialogProps {
  readonly plan: Plan | undefined;
  /** Names of plans that there are: a new one must not replace them. */
  readonly taken: readonly string[];
  readonly onClose: () => void;
}

type Fields = Readonly<Record<LimitName | "name", string>>;

const fieldsOf = (plan: Plan | undefined): Fields => ({
  ...(Object.fromEntries(limitNames.map((one) => [one, String(plan?.limits[one] ?? "")])) as Record<LimitName, string>),
  name: plan?.name ?? "",
});

function PlanDialog({ plan, taken, onClose }: PlanDialogProps) {
  const edits = useEdits<Fields>(`plan:${plan?.name ?? ""}`, fieldsOf(plan));
  const { name, ...texts } = edits.values;
  const forget = () => {
    edits.discard();
    onClose();
  };
  const save = useChange(
    () =>
      call("PUT /api/operator/plans/{name}", {
        path: { name: name.trim() },
        body: Object.fromEntries(
          limitNames.map((one) => [one, wholeNumberOf(texts[one])]),
        ) as unknown as Plan["limits"],
      }),
    { onDone: forget },
  );
  const errors = fieldErrorsOf(save.error);
  const isTaken = plan === undefined && taken.includes(name.trim());
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={plan?.name ?? t.newPlan}
      description={t.emptyIsNone}
      closeLabel={commonTexts.close}
      footer={
        <>
          <Button onClick={forget}>{commonTexts.cancel}</Button>
          <Button variant="primary" loading={save.isPending} onClick={() => !isTaken && save.mutate()}>
            {commonTexts.save}
          </Button>
        </>
      }
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <div className="empty:hidden sm:col-span-2">
          <DraftNotice edits={edits} />
        </div>
        {plan === undefined && (
          <Field
            label={t.planName}
            hint={t.planHint}
            error={isTaken ? t.planTaken : errors.name}
            className="sm:col-span-2"
          >
            <Input value={name} onChange={(event) => edits.set({ name: event.target.value })} spellCheck={false} />
          </Field>
        )}
        {limitNames.map((one) => (
          <Field key={one} label={t.limitNames[one]} error={errors[one]}>
            <Input
              inputMode="numeric"
              value={texts[one]}
              placeholder={t.noLimit}
              onChange={(event) => edits.set({ [one]: event.target.value })}
            />
          </Field>
        ))}
      </div>
    </Dialog>
  );
}
