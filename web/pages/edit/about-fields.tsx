import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { listQuery } from "../../api/queries.ts";
import { formatNumber } from "../../format.ts";
import { useSettled } from "../../forms.ts";
import { aboutTexts as t } from "../../texts/edit.ts";
import { MultiCombobox } from "../../ui/combobox.tsx";
import { Field } from "../../ui/field.tsx";
import { Input, Textarea } from "../../ui/input.tsx";
import { useWorkspace } from "../../workspace.ts";
import { useDestinationCheck } from "./destination-field.tsx";
import type { Editor } from "./editor.ts";

const tagsMost = 20;

/** Tags, title and notes. */
export function AboutFields({ editor, disabled }: { readonly editor: Editor; readonly disabled: boolean }) {
  const { form, set, errorOf } = editor;
  const { check } = useDestinationCheck(form.url, form.kind === "url" && !disabled);
  const pageTitle = check?.page?.title?.slice(0, 200);
  const notesError = errorOf("notes");
  return (
    <div className="grid gap-4">
      <TagsField editor={editor} disabled={disabled} />
      <Field
        label={t.linkTitle}
        error={errorOf("title")}
        hint={t.titleHint}
        remark={
          pageTitle && pageTitle !== form.title && !disabled ? (
            <button
              type="button"
              className="rounded-1 text-accent-text hover:underline"
              onClick={() => set({ title: pageTitle })}
            >
              {t.takeTitle}
            </button>
          ) : undefined
        }
      >
        <Input
          value={form.title}
          maxLength={200}
          readOnly={disabled}
          placeholder={pageTitle}
          onChange={(event) => set({ title: event.target.value })}
        />
      </Field>
      <Field label={t.notes} error={notesError} hint={t.notesHint}>
        <Textarea
          value={form.notes}
          maxLength={2_000}
          readOnly={disabled}
          onChange={(event) => set({ notes: event.target.value })}
        />
      </Field>
    </div>
  );
}

function TagsField({ editor, disabled }: { readonly editor: Editor; readonly disabled: boolean }) {
  const { form, set, errorsBelow } = editor;
  const { slug } = useWorkspace();
  const [query, setQuery] = useState("");
  const prefix = useSettled(query.trim(), 150);
  const { data, isPending } = useQuery({
    ...listQuery(slug, "GET /api/tags", { limit: 20, ...(prefix !== "" && { prefix }) }),
    staleTime: 30_000,
    placeholderData: (before) => before,
  });
  const options = (data?.items ?? []).map(({ tag, links }) => ({
    value: tag,
    label: tag,
    remark: formatNumber(links),
  }));
  return (
    <Field
      label={t.tags}
      error={errorsBelow("tags")[0]}
      remark={form.tags.length > 0 ? t.tagsRemark(formatNumber(form.tags.length)) : undefined}
    >
      <MultiCombobox
        values={form.tags}
        onValuesChange={(tags) => set({ tags: tags.map((tag) => tag.trim()).slice(0, tagsMost) })}
        options={options}
        onQueryChange={setQuery}
        disabled={disabled || undefined}
        placeholder={t.tagsPlaceholder}
        emptyText={t.noTags}
        loadingText={isPending ? t.loadingTags : undefined}
        createText={t.createTag}
        removeLabel={t.removeTag}
      />
    </Field>
  );
}
