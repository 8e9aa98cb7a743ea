import { keysChoiceTexts as t } from "../../texts/account.ts";
import { RadioCards } from "../../ui/checkbox.tsx";
import { FieldSet } from "../../ui/field.tsx";

export type KeysChoice = "keep" | "revoke";

interface KeysChoiceFieldProps {
  readonly value: KeysChoice | undefined;
  readonly onValueChange: (value: KeysChoice) => void;
}

/** Asked only of people whose API keys work: they belong to the workspace and may outlive their maker. */
export function KeysChoiceField({ value, onValueChange }: KeysChoiceFieldProps) {
  return (
    <FieldSet legend={t.legend}>
      <RadioCards
        label={t.legend}
        value={value}
        onValueChange={onValueChange}
        options={[
          { value: "keep", label: t.keep, description: t.keepText },
          { value: "revoke", label: t.revoke, description: t.revokeText },
        ]}
      />
    </FieldSet>
  );
}
