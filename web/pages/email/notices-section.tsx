import { call } from "../../api/call.ts";
import type { EmailSettings } from "../../api/generated.ts";
import { useEdits } from "../../forms.ts";
import { emailTexts as t } from "../../texts/email.ts";
import { Section } from "../../ui/card.tsx";
import { Switch } from "../../ui/checkbox.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { useWorkspace } from "../../workspace.ts";
import { SaveActions } from "../settings/save-actions.tsx";
import { useSave } from "../settings/use-save.ts";

const switches = [
  ["firstClick", t.firstClick, t.firstClickHint],
  ["spike", t.spike, t.spikeHint],
  ["drop", t.drop, t.dropHint],
  ["deadTarget", t.deadTarget, t.deadTargetHint],
  ["digest", t.digest, t.digestHint],
] as const;

export function NoticesSection({ settings }: { readonly settings: EmailSettings }) {
  const { slug } = useWorkspace();
  const edits = useEdits(`notices:${slug}`, { contact: settings.contact ?? "", notices: settings.notices });
  const { contact, notices } = edits.values;
  const address = contact.trim() === "" ? null : contact.trim();
  const { form, errors, isSaving, onSubmit } = useSave(
    () => call("PATCH /api/email/settings", { body: { contact: address, notices } }),
    { refreshes: ["/api/email"], edits },
  );
  const isChanged = address !== settings.contact || switches.some(([name]) => notices[name] !== settings.notices[name]);
  return (
    <form ref={form} noValidate onSubmit={onSubmit}>
      <Section
        title={t.notices}
        description={t.noticesText}
        actions={<SaveActions isChanged={isChanged} isSaving={isSaving} onDiscard={edits.discard} />}
      >
        <Field label={t.contact} hint={t.contactHint} error={errors.contact}>
          <Input type="email" value={contact} onChange={(event) => edits.set({ contact: event.target.value })} />
        </Field>
        {switches.map(([name, label, hint]) => (
          <Switch
            key={name}
            label={label}
            description={hint}
            checked={notices[name]}
            onCheckedChange={(isOn) => edits.set({ notices: { ...notices, [name]: isOn } })}
          />
        ))}
      </Section>
    </form>
  );
}
