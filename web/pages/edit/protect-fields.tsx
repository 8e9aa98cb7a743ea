import { protectTexts as t } from "../../texts/edit.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Input, PasswordInput } from "../../ui/input.tsx";
import type { Editor } from "./editor.ts";
import { withScheme } from "./link-form.ts";

interface ProtectFieldsProps {
  readonly editor: Editor;
  /** Whether the stored link has a password. */
  readonly hasPassword: boolean;
  readonly disabled: boolean;
}

export function ProtectFields({ editor, hasPassword, disabled }: ProtectFieldsProps) {
  const { form, set, errorOf } = editor;
  return (
    <div className="grid gap-4">
      <Password editor={editor} hasPassword={hasPassword} disabled={disabled} />
      <Field label={t.fallback} hint={t.fallbackHint} error={errorOf("fallbackUrl")}>
        <Input
          type="url"
          inputMode="url"
          value={form.fallbackUrl}
          readOnly={disabled}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          onBlur={() => {
            const full = withScheme(form.fallbackUrl);
            if (full !== form.fallbackUrl) set({ fallbackUrl: full });
          }}
          onChange={(event) => set({ fallbackUrl: event.target.value })}
        />
      </Field>
    </div>
  );
}

/** A stored password is never shown: it is kept, changed or removed. */
function Password({ editor, hasPassword, disabled }: ProtectFieldsProps) {
  const { form, set, errorOf } = editor;
  const { mode, text } = form.password;
  const choose = (next: "none" | "keep" | "set") => set({ password: { mode: next, text: "" } });
  if (hasPassword && mode !== "set") {
    return (
      <div className="grid gap-1.5">
        <p className="font-medium">{t.password}</p>
        <div className="flex flex-wrap items-center gap-2 text-text-2">
          <span className="flex-1">{mode === "keep" ? t.isSet : t.willBeRemoved}</span>
          {!disabled && (
            <>
              <Button size="sm" onClick={() => choose("set")}>
                {t.change}
              </Button>
              {mode === "keep" ? (
                <Button size="sm" variant="quiet" onClick={() => choose("none")}>
                  {t.remove}
                </Button>
              ) : (
                <Button size="sm" variant="quiet" onClick={() => choose("keep")}>
                  {t.keep}
                </Button>
              )}
            </>
          )}
        </div>
      </div>
    );
  }
  // A draft that came back: it knows that there was a password, and not which.
  const isLost = mode === "set" && text === "" && !hasPassword;
  return (
    <Field
      label={t.password}
      hint={t.passwordHint}
      error={errorOf("password") ?? (isLost ? t.passwordAgain : undefined)}
      remark={
        (hasPassword || isLost) && (
          <button
            type="button"
            className="rounded-1 text-accent-text hover:underline"
            onClick={() => choose(hasPassword ? "keep" : "none")}
          >
            {hasPassword ? t.keep : t.remove}
          </button>
        )
      }
    >
      <PasswordInput
        value={text}
        readOnly={disabled}
        autoComplete="new-password"
        showLabel={t.show}
        hideLabel={t.hide}
        onChange={(event) => {
          const typed = event.target.value;
          set({ password: { mode: typed === "" && !hasPassword ? "none" : "set", text: typed } });
        }}
      />
    </Field>
  );
}
