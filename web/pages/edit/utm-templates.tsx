import { useQuery, useQueryClient } from "@tanstack/react-query";
import BookmarkPlus from "lucide-react/icons/bookmark-plus";
import X from "lucide-react/icons/x";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { UtmTemplate } from "../../api/generated.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { fieldErrorsOf, messageOf, useDraft, useIntentKey } from "../../forms.ts";
import { editTexts, templateTexts as t } from "../../texts/edit.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { Popover } from "../../ui/popover.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { summariseUtm, type UtmForm, utmForm, utmNames, utmOf } from "./link-form.ts";

const path = "/api/utm-templates";

interface UtmTemplatesProps {
  readonly utm: UtmForm;
  readonly onApply: (utm: UtmForm) => void;
}

/** Sets of parameters that a team uses again and again: apply, save, remove. */
export function UtmTemplates({ utm, onApply }: UtmTemplatesProps) {
  const { slug } = useWorkspace();
  const { data } = useQuery({ ...listQuery(slug, `GET ${path}`, { limit: 100 }), staleTime: 60_000, retry: false });
  const templates = data?.items ?? [];
  const isAnySet = utmNames.some((name) => utm[name].trim() !== "");
  if (templates.length === 0 && !isAnySet) return null;
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      {templates.map((template) => (
        <Template key={template.id} template={template} current={utm} onApply={onApply} />
      ))}
      {isAnySet && <SaveTemplate utm={utm} />}
    </div>
  );
}

interface TemplateProps {
  readonly template: UtmTemplate;
  readonly current: UtmForm;
  readonly onApply: (utm: UtmForm) => void;
}

function Template({ template, current, onApply }: TemplateProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const utm = utmForm(template.utm);
  const isApplied = utmNames.every((name) => utm[name] === current[name]);
  const restore = async () => {
    await call(`POST ${path}`, { body: { name: template.name, utm: template.utm } }).catch(fail);
    await refresh(queries, path);
  };
  const fail = (error: unknown) => void toast({ message: messageOf(error), tone: "bad" });
  const remove = async () => {
    try {
      await call(`DELETE ${path}/{id}`, { path: { id: template.id } });
      toast({
        message: t.removed(template.name),
        action: { label: editTexts.undo, onAction: () => void restore() },
      });
    } catch (error) {
      fail(error);
    }
    await refresh(queries, path);
  };
  return (
    <span className="group/template relative inline-flex max-w-full items-center">
      <Chip
        pressed={isApplied}
        title={summariseUtm(utm)}
        className="pointer-coarse:pr-8 max-sm:pointer-coarse:pr-11"
        onClick={() => onApply(utm)}
      >
        <span className="truncate">{template.name}</span>
      </Chip>
      <IconButton
        icon={X}
        size="xs"
        label={t.remove(template.name)}
        // Over the end of the name: between the chips it would leave a hole.
        className="absolute right-px rounded-full! bg-hover opacity-0 group-focus-within/template:opacity-100 group-hover/template:opacity-100 max-sm:right-0 pointer-coarse:bg-transparent pointer-coarse:opacity-100"
        onClick={() => void remove()}
      />
    </span>
  );
}

function SaveTemplate({ utm }: { readonly utm: UtmForm }) {
  const queries = useQueryClient();
  const toast = useToast();
  const [isOpen, setOpen] = useState(false);
  const { slug } = useWorkspace();
  const [name, setName, forgetName] = useDraft(`utm-template:${slug}`, "");
  const [error, setError] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  const body = { name: name.trim(), utm: utmOf(utm) ?? {} };
  const intent = useIntentKey(body);
  const save = async () => {
    if (isSaving) return;
    setSaving(true);
    try {
      await call(`POST ${path}`, { body, idempotencyKey: intent.key() });
      intent.done();
      toast({ message: t.saved(body.name) });
      setName("");
      forgetName();
      setOpen(false);
      await refresh(queries, path);
    } catch (problem) {
      setError(fieldErrorsOf(problem).name ?? messageOf(problem));
    } finally {
      setSaving(false);
    }
  };
  return (
    <Popover
      label={t.save}
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button size="sm" variant="quiet" icon={BookmarkPlus}>
          {t.save}
        </Button>
      }
    >
      <form
        className="grid w-64 gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          // In React's tree this form is inside the drawer's.
          event.stopPropagation();
          void save();
        }}
      >
        <Field label={t.name} error={error} hint={summariseUtm(utm)}>
          <Input
            value={name}
            maxLength={100}
            autoComplete="off"
            onChange={(event) => {
              setName(event.target.value);
              setError(undefined);
            }}
          />
        </Field>
        <div className="flex justify-end">
          <Button type="submit" variant="primary" size="sm" loading={isSaving}>
            {t.saveButton}
          </Button>
        </div>
      </form>
    </Popover>
  );
}
