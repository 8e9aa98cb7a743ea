import { commonTexts } from "../../texts/common.ts";
import { Button } from "../../ui/button.tsx";

interface SaveActionsProps {
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  readonly onDiscard: () => void;
}

/** Changes are kept until they are saved or discarded. */
export function SaveActions({ isChanged, isSaving, onDiscard }: SaveActionsProps) {
  return (
    <>
      {isChanged && !isSaving && (
        <Button variant="quiet" onClick={onDiscard}>
          {commonTexts.discard}
        </Button>
      )}
      <Button type="submit" loading={isSaving} disabled={!isChanged}>
        {commonTexts.save}
      </Button>
    </>
  );
}
