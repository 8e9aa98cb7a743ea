import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { call } from "../../api/call.ts";
import type { Link } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { fieldErrorsOf, focusFirstError, messageOf, useEdits, useIntentKey } from "../../forms.ts";
import { isoOf } from "../../local-time.ts";
import { listOf } from "../../search.ts";
import { commonTexts } from "../../texts/common.ts";
import { shareTexts as t } from "../../texts/share.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { DateField } from "../../ui/date-field.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, FieldError } from "../../ui/field.tsx";
import { PasswordInput } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import { useToast } from "../../ui/toast.tsx";
import { shortly } from "../edit/link-form.ts";
import { sentenceOf } from "../report/filter-chips.tsx";
import { parseFilter, writeFilter } from "../report/filters.ts";
import { ShareList } from "./share-list.tsx";

interface ShareDialogProps {
  readonly link: Link;
  readonly onClose: () => void;
}

/** Publishes the statistics of the link, and lists and revokes what is public. */
export function ShareDialog({ link, onClose }: ShareDialogProps) {
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={t.title(shortly(link.shortUrl))}
      description={t.description}
      closeLabel={commonTexts.close}
    >
      <NewShare link={link} />
      <ShareList link={link.id} />
    </Dialog>
  );
}

function NewShare({ link }: { readonly link: Link }) {
  const queries = useQueryClient();
  const toast = useToast();
  const form = useRef<HTMLFormElement>(null);
  const search = useSearch({ strict: false });
  const filters = listOf(search.filter).flatMap((text) => parseFilter(text) ?? []);
  const edits = useEdits(`share:${link.id}`, {
    ...{ days: "30", expires: "", isFiltered: filters.length > 0, isProtected: false },
  });
  const { days, expires, isFiltered, isProtected } = edits.values;
  // A secret: a draft knows that there was one, so that it does not come back open to everybody.
  const [password, setPassword] = useState("");
  const isLost = isProtected && password === "";
  const body = {
    link: link.id,
    days: Number(days),
    ...(password !== "" && { password }),
    ...(expires !== "" && { expiresAt: isoOf(expires) }),
    ...(isFiltered && { filters: filters.map(writeFilter) }),
  };
  const intent = useIntentKey(body);
  const create = useMutation({
    mutationFn: () => call("POST /api/stats/shares", { body, idempotencyKey: intent.key() }),
    onMutate: () => edits.sent(),
    onSuccess: async (_, __, settle) => {
      intent.done();
      settle();
      setPassword("");
      toast({ message: t.created });
      await refresh(queries, "/api/stats/shares");
    },
    onError: () => focusFirstError(form.current),
  });
  const errors = fieldErrorsOf(create.error);
  const shown = ["days", "password", "expiresAt", "filters"];
  const general = create.error && !shown.some((name) => name in errors) ? messageOf(create.error) : undefined;
  return (
    <form
      ref={form}
      noValidate
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (isLost) focusFirstError(form.current);
        else if (!create.isPending) create.mutate();
      }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t.days} hint={t.daysHint} error={errors.days}>
          <Select
            value={days}
            onValueChange={(next) => edits.set({ days: next })}
            options={Object.entries(t.dayChoices).map(([value, label]) => ({ value, label }))}
          />
        </Field>
        <Field label={t.expires} remark={t.optional} hint={t.expiresHint} error={errors.expiresAt}>
          <DateField value={expires} onValueChange={(next) => edits.set({ expires: next })} />
        </Field>
      </div>
      <Field
        label={t.password}
        remark={
          isLost ? (
            <button
              type="button"
              className="rounded-1 text-accent-text hover:underline"
              onClick={() => edits.set({ isProtected: false })}
            >
              {commonTexts.remove}
            </button>
          ) : (
            t.optional
          )
        }
        hint={t.passwordHint}
        error={isLost ? t.passwordAgain : errors.password}
      >
        <PasswordInput
          value={password}
          autoComplete="new-password"
          showLabel={t.showPassword}
          hideLabel={t.hidePassword}
          onChange={(event) => {
            setPassword(event.target.value);
            edits.set({ isProtected: event.target.value !== "" });
          }}
        />
      </Field>
      {filters.length > 0 && (
        <Checkbox
          label={t.filters}
          description={t.filtersText(filters.map(sentenceOf).join(", "))}
          checked={isFiltered}
          onCheckedChange={(isOn) => edits.set({ isFiltered: isOn })}
        />
      )}
      {errors.filters && <FieldError>{errors.filters}</FieldError>}
      {general && <FieldError>{general}</FieldError>}
      <div className="flex justify-end pb-3">
        <Button type="submit" variant="primary" loading={create.isPending}>
          {t.create}
        </Button>
      </div>
    </form>
  );
}
