import { useNavigate } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import type { Workspace } from "../../api/generated.ts";
import { useEdits } from "../../forms.ts";
import { settingsTexts as t } from "../../texts/settings.ts";
import { Section } from "../../ui/card.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { SaveActions } from "./save-actions.tsx";
import { useSave } from "./use-save.ts";

export function WorkspaceSection({ workspace }: { readonly workspace: Workspace }) {
  const navigate = useNavigate();
  const edits = useEdits(`settings:${workspace.slug}`, { name: workspace.name, slug: workspace.slug });
  const { name, slug } = edits.values;
  const { form, errors, isSaving, onSubmit } = useSave(
    () =>
      call("PATCH /api/workspace", {
        body: {
          ...(name.trim() !== workspace.name && { name: name.trim() }),
          ...(slug.trim() !== workspace.slug && { slug: slug.trim() }),
        },
      }),
    {
      edits,
      refreshes: ["/api/account", "/api/workspace"],
      onSaved(changed) {
        // The address of this page has changed with it.
        if (changed.slug !== workspace.slug) {
          edits.discard();
          location.assign(`/app/w/${changed.slug}/settings`);
        } else void navigate({ to: ".", replace: true });
      },
    },
  );
  const isChanged = name.trim() !== workspace.name || slug.trim() !== workspace.slug;
  return (
    <form ref={form} noValidate onSubmit={onSubmit}>
      <Section
        title={t.workspace}
        description={t.workspaceText}
        actions={<SaveActions isChanged={isChanged} isSaving={isSaving} onDiscard={edits.discard} />}
      >
        <Field label={t.name} error={errors.name}>
          <Input value={name} onChange={(event) => edits.set({ name: event.target.value })} />
        </Field>
        <Field label={t.slug} hint={t.slugHint} error={errors.slug}>
          <Input
            value={slug}
            onChange={(event) => edits.set({ slug: event.target.value })}
            spellCheck={false}
            autoCapitalize="none"
          />
        </Field>
      </Section>
    </form>
  );
}
