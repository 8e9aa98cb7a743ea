import { type FormEvent, useState } from "react";
import { call } from "../../api/call.ts";
import type { Link as ShortLink } from "../../api/generated.ts";
import { fieldErrorsOf, messageOf, useDraft, useIntentKey } from "../../forms.ts";
import { startTexts as t } from "../../texts/start.ts";
import { Button } from "../../ui/button.tsx";
import { FieldError } from "../../ui/field.tsx";
import { useAttempt } from "../../use-attempt.ts";
import { useWorkspace } from "../../workspace.ts";
import { withScheme } from "./with-scheme.ts";

const errorId = "long-address-error";

/** One field: Enter makes the link. */
export function PasteForm({ onCreated }: { readonly onCreated: (link: ShortLink) => void }) {
  const { slug } = useWorkspace();
  const [text, setText, clearDraft] = useDraft(`start:${slug}`, "");
  const [isMissing, setMissing] = useState(false);
  const attempt = useAttempt();
  const intent = useIntentKey(text);
  const error = isMissing
    ? t.required
    : attempt.error === undefined
      ? undefined
      : (fieldErrorsOf(attempt.error).url ?? messageOf(attempt.error));

  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const field = event.currentTarget.querySelector("input");
    const url = withScheme(text);
    setMissing(url === "");
    if (url === "") {
      field?.focus();
      return;
    }
    void attempt
      .run(async () => {
        const link = await call("POST /api/links", { body: { url }, idempotencyKey: intent.key() });
        intent.done();
        clearDraft();
        onCreated(link);
      })
      .then((isDone) => !isDone && field?.focus());
  }

  return (
    <form onSubmit={send} noValidate className="grid grid-cols-1 gap-2 text-left">
      <div className="flex h-14 items-center gap-2.5 rounded-4 border border-line-control bg-surface pr-2 pl-4.5 transition-[border-color,box-shadow] focus-within:border-focus focus-within:shadow-[0_0_0_4px_var(--accent-soft)] has-[[aria-invalid=true]]:border-bad">
        <input
          type="url"
          inputMode="url"
          aria-label={t.address}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? errorId : undefined}
          placeholder={t.placeholder}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setMissing(false);
            attempt.clear();
          }}
          // biome-ignore lint/a11y/noAutofocus: it is what the page is for
          autoFocus
          autoComplete="off"
          spellCheck={false}
          className="h-full min-w-0 flex-1 bg-transparent text-16 outline-hidden placeholder:text-text-3"
        />
        <Button
          type="submit"
          variant="primary"
          kbd="↵"
          loading={attempt.isBusy}
          className="h-10! flex-none rounded-3! px-4! text-14!"
        >
          {t.shorten}
        </Button>
      </div>
      {error && <FieldError id={errorId}>{error}</FieldError>}
    </form>
  );
}
