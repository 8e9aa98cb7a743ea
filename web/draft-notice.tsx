import type { Edits } from "./forms.ts";
import { commonTexts } from "./texts/common.ts";
import { Button } from "./ui/button.tsx";
import { Notice } from "./ui/states.tsx";

/** In a dialog that changes something stored: what it shows is not what is stored. */
export function DraftNotice({ edits }: { readonly edits: Pick<Edits<object>, "isBack" | "discard"> }) {
  if (!edits.isBack) return null;
  return (
    <Notice
      tone="accent"
      action={
        <Button size="sm" onClick={edits.discard}>
          {commonTexts.discard}
        </Button>
      }
    >
      {commonTexts.draftBack}
    </Notice>
  );
}
