import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { type BodyOf, call } from "../../api/call.ts";
import { refresh } from "../../api/queries.ts";
import { fieldErrorsOf, focusFirstError, messageOf, useEdits, useIntentKey } from "../../forms.ts";
import { isoOf } from "../../local-time.ts";
import { commonTexts } from "../../texts/common.ts";
import { keyTexts as t } from "../../texts/keys.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox, RadioCards } from "../../ui/checkbox.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { DateField } from "../../ui/date-field.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, FieldError, FieldSet } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { wholeNumberOf } from "../../whole-number.ts";
import { type Permission, useWorkspace } from "../../workspace.ts";

type Scope = BodyOf<"POST /api/keys">["scopes"][number];

const presets = {
  shorten: ["links:read", "links:write"],
  read: ["links:read", "stats:read", "usage:read"],
  files: ["files:read", "files:write", "links:read", "links:write"],
  everything: [
    ...(["links:read", "links:write", "files:read", "files:write"] as const),
    ...(["stats:read", "usage:read", "email:read", "email:send"] as const),
  ],
  custom: [],
} as const satisfies Readonly<Record<string, readonly Scope[]>>;

type Preset = keyof typeof presets;

interface Fields {
  readonly name: string;
  readonly preset: Preset;
  readonly chosen: readonly Scope[];
  readonly expires: string;
  readonly perMinute: string;
}

const allScopes = Object.keys(t.scopes) as Scope[];

/** A key by what it is for, then the secret, which is shown once. */
export function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const { can, slug } = useWorkspace();
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const edits = useEdits<Fields>(`key:${slug}`, {
    ...{ name: "", preset: "shorten", chosen: [], expires: "", perMinute: "" },
  });
  const { name, preset, chosen, expires, perMinute } = edits.values;
  const scopes: readonly Scope[] = preset === "custom" ? chosen : presets[preset];
  const body = {
    name: name.trim(),
    scopes: [...scopes],
    ...(expires !== "" && { expiresAt: isoOf(expires) }),
    ...(perMinute.trim() !== "" && { apiPerMinute: wholeNumberOf(perMinute) }),
  };
  const intent = useIntentKey(body);
  const create = useMutation({
    mutationFn: () => call("POST /api/keys", { body, idempotencyKey: intent.key() }),
    onMutate: () => edits.sent(),
    onSuccess(_, __, settle) {
      settle();
      return refresh(queries, "/api/keys");
    },
    onError: () => focusFirstError(form.current),
  });
  if (create.data) return <Created secret={create.data.secret} onClose={onClose} />;
  const errors = fieldErrorsOf(create.error);
  const general = create.error && Object.keys(errors).length === 0 ? messageOf(create.error) : undefined;
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={t.create}
      closeLabel={commonTexts.close}
      footer={
        <>
          <Button
            onClick={() => {
              edits.discard();
              onClose();
            }}
          >
            {commonTexts.cancel}
          </Button>
          <Button variant="primary" loading={create.isPending} onClick={() => form.current?.requestSubmit()}>
            {t.create}
          </Button>
        </>
      }
    >
      <form
        ref={form}
        noValidate
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!create.isPending) create.mutate();
        }}
      >
        <Field label={t.name} hint={t.nameHint} error={errors.name}>
          <Input value={name} onChange={(event) => edits.set({ name: event.target.value })} autoComplete="off" />
        </Field>
        <FieldSet legend={t.use} error={errors.scopes}>
          <RadioCards
            label={t.use}
            value={preset}
            onValueChange={(next) => edits.set({ preset: next })}
            options={(Object.keys(presets) as Preset[]).map((value) => ({
              value,
              label: t.presets[value],
              description: t.presetHints[value],
            }))}
          />
          {preset === "custom" && (
            <div className="mt-2 grid gap-2 sm:grid-cols-2">
              {allScopes
                .filter((scope) => can(scope as Permission))
                .map((scope) => (
                  <Checkbox
                    key={scope}
                    label={t.scopes[scope]}
                    checked={chosen.includes(scope)}
                    onCheckedChange={(isOn) =>
                      edits.set({ chosen: isOn ? [...chosen, scope] : chosen.filter((one) => one !== scope) })
                    }
                  />
                ))}
            </div>
          )}
        </FieldSet>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t.expires} hint={t.expiresHint} error={errors.expiresAt}>
            <DateField value={expires} onValueChange={(next) => edits.set({ expires: next })} />
          </Field>
          <Field label={t.perMinute} hint={t.perMinuteHint} error={errors.apiPerMinute}>
            <Input
              inputMode="numeric"
              value={perMinute}
              onChange={(event) => edits.set({ perMinute: event.target.value })}
            />
          </Field>
        </div>
        {general && <FieldError>{general}</FieldError>}
      </form>
    </Dialog>
  );
}

function Created({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  const labels = { copyLabel: commonTexts.copy, copiedLabel: commonTexts.copied };
  const example = `curl ${location.origin}/api/links -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '{"url": "https://example.com/"}'`;
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={t.createdTitle}
      description={t.createdText}
      closeLabel={commonTexts.close}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t.done}
        </Button>
      }
    >
      <div className="grid gap-4">
        <CodeBlock code={secret} label={t.secret} {...labels} />
        <div>
          <p className="mb-1.5 text-12 text-text-3">{t.tryIt}</p>
          <CodeBlock code={example} label={t.tryIt} {...labels} />
        </div>
      </div>
    </Dialog>
  );
}
