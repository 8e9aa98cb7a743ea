import { type FormEvent, useState } from "react";
import { linksTexts as t } from "../../texts/links.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";

interface SaveViewProps {
  readonly onClose: () => void;
  readonly onSave: (name: string) => void;
}

export function SaveView({ onClose, onSave }: SaveViewProps) {
  const [name, setName] = useState("");
  const [error, setError] = useState<string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "") return setError(t.nameNeeded);
    onSave(name.trim());
  };
  return (
    <Dialog open onClose={onClose} title={t.saveView} description={t.saveViewHint} closeLabel={t.close}>
      <form onSubmit={submit} className="grid gap-4 pb-4">
        <Field label={t.viewName} error={error}>
          <Input
            value={name}
            maxLength={40}
            autoComplete="off"
            onChange={(event) => {
              setName(event.target.value);
              setError(undefined);
            }}
          />
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t.cancel}</Button>
          <Button type="submit" variant="primary">
            {t.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
