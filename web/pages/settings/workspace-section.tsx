import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { Workspace } from "../../api/generated.ts";
import { commonTexts } from "../../texts/common.ts";
import { settingsTexts as t } from "../../texts/settings.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { useSave } from "./use-save.ts";

export function WorkspaceSection({ workspace }: { readonly workspace: Workspace }) {
  const navigate = useNavigate();
  const [name, setName] = useState(workspace.name);
  const [slug, setSlug] = useState(workspace.slug);
  const { form, errors, isSaving, onSubmit } = useSave(
    () =>
      call("PATCH /api/workspace", {
        body: {
          ...(name.trim() !== workspace.name && { name: name.trim() }),
          ...(slug.trim() !== workspace.slug && { slug: slug.trim() }),
        },
      }),
    {
      refreshes: ["/api/account", "/api/workspace"],
      onSaved(changed) {
        // The address of this page has changed with it.
        if (changed.slug !== workspace.slug) location.assign(`/app/w/${changed.slug}/settings`);
        else void navigate({ to: ".", replace: true });
      },
    },
  );
  const isChanged = name.trim() !== workspace.name || slug.trim() !== workspace.slug;
  return (
    <form ref={form} noValidate onSubmit={onSubmit}>
      <Section
        title={t.workspace}
        description={t.workspaceText}
        actions={
          <Button type="submit" loading={isSaving} disabled={!isChanged}>
            {commonTexts.save}
          </Button>
        }
      >
        <Field label={t.name} error={errors.name}>
          <Input value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label={t.slug} hint={t.slugHint} error={errors.slug}>
          <Input
            value={slug}
            onChange={(event) => setSlug(event.target.value)}
            spellCheck={false}
            autoCapitalize="none"
          />
        </Field>
      </Section>
    </form>
  );
}
