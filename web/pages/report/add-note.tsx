import { useMutation } from "@tanstack/react-query";
import MessageSquarePlus from "lucide-react/icons/message-square-plus";
import Trash2 from "lucide-react/icons/trash-2";
import { useRef, useState } from "react";
import { call } from "../../api/call.ts";
import { formatDateTime, readerZone } from "../../format.ts";
import { fieldErrorsOf, focusFirstError, messageOf, useDraft, useIntentKey } from "../../forms.ts";
import { isoIn, localTimeIn } from "../../local-time.ts";
import { reportTexts } from "../../texts/report.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { DateField } from "../../ui/date-field.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { Popover } from "../../ui/popover.tsx";
import { useToast } from "../../ui/toast.tsx";
import type { Annotations } from "./use-annotations.ts";

const t = reportTexts.notes;

interface AddNoteProps {
  /** Undefined: about the whole workspace. */
  readonly link?: string;
  readonly notes: Annotations;
  readonly zone: string;
}

/** Notes on the chart: what happened when. */
export function AddNote({ link, notes, zone }: AddNoteProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover
      label={t.title}
      align="end"
      className="w-80"
      open={isOpen}
      onOpenChange={setOpen}
      trigger={<IconButton icon={MessageSquarePlus} size="sm" label={t.add} />}
    >
      {isOpen && (
        <>
          <NoteForm
            link={link}
            zone={zone}
            onDone={() => {
              setOpen(false);
              void notes.added();
            }}
          />
          {notes.failed && <p className="mt-3 text-12 text-bad">{t.couldNotLoad}</p>}
          {notes.items.length > 0 && (
            <ul className="-mx-3 mt-3 max-h-56 overflow-y-auto border-t border-line">
              {notes.items.map((note) => (
                <li key={note.id} className="flex items-start gap-2 border-b border-line px-3 py-1.5 last:border-b-0">
                  <div className="min-w-0 flex-1">
                    <p>{note.text}</p>
                    <p className="text-12 text-text-3">
                      {formatDateTime(note.at, zone)}
                      {link !== undefined && note.link === null && ` · ${t.everywhere}`}
                    </p>
                  </div>
                  <IconButton
                    size="xs"
                    icon={Trash2}
                    label={t.remove(note.text)}
                    onClick={() => void notes.remove(note)}
                  />
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </Popover>
  );
}

interface NoteFormProps {
  readonly link: string | undefined;
  /** Of the report, whose chart shows the note. */
  readonly zone: string;
  readonly onDone: () => void;
}

function NoteForm({ link, zone, onDone }: NoteFormProps) {
  const toast = useToast();
  const form = useRef<HTMLFormElement>(null);
  const [text, setText, clearText] = useDraft(`note ${link ?? ""}`, "");
  const [at, setAt] = useState(() => localTimeIn(zone, Date.now()));
  const [isForAll, setForAll] = useState(link === undefined);
  const [isTried, setTried] = useState(false);
  const body = {
    text: text.trim(),
    ...(at !== "" && { at: isoIn(zone, at) }),
    link: isForAll ? null : (link ?? null),
  };
  const intent = useIntentKey(body);
  const save = useMutation({
    mutationFn: () => call("POST /api/annotations", { body, idempotencyKey: intent.key() }),
    onSuccess: () => {
      intent.done();
      clearText();
      toast({ message: t.saved });
      onDone();
    },
    onError: () => focusFirstError(form.current),
  });
  const errors = fieldErrorsOf(save.error);
  const isMissing = isTried && body.text === "";
  return (
    <form
      ref={form}
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (body.text === "") focusFirstError(form.current);
        else if (!save.isPending) save.mutate();
      }}
    >
      <Field label={t.text} hint={t.textHint} error={isMissing ? t.textMissing : errors.text}>
        <Input value={text} maxLength={200} onChange={(event) => setText(event.target.value)} />
      </Field>
      <Field label={t.at} remark={zone !== readerZone() && zone} error={errors.at}>
        <DateField value={at} onValueChange={setAt} />
      </Field>
      {link !== undefined && <Checkbox label={t.whole} checked={isForAll} onCheckedChange={setForAll} />}
      {save.isError && Object.keys(errors).length === 0 && (
        <p role="alert" className="text-12 text-bad">
          {messageOf(save.error)}
        </p>
      )}
      <div className="flex justify-end">
        <Button type="submit" variant="primary" loading={save.isPending}>
          {t.save}
        </Button>
      </div>
    </form>
  );
}
