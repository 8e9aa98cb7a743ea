import { behaviourTexts as t } from "../../texts/edit.ts";
import { Switch } from "../../ui/checkbox.tsx";
import type { Editor } from "./editor.ts";
import type { LinkForm } from "./link-form.ts";

export function BehaviourFields({ editor, disabled }: { readonly editor: Editor; readonly disabled: boolean }) {
  const { form, set } = editor;
  return (
    <div className="grid gap-4">
      <Switch
        label={t.permanent}
        description={t.permanentHint}
        checked={form.permanent}
        disabled={disabled}
        onCheckedChange={(permanent) => set({ permanent })}
      />
      <Switch
        label={t.forward}
        description={t.forwardHint}
        checked={form.forwardQuery}
        disabled={disabled}
        onCheckedChange={(forwardQuery) => set({ forwardQuery })}
      />
      <Switch
        label={t.facts}
        description={t.factsHint}
        checked={form.clickFacts}
        disabled={disabled}
        onCheckedChange={(clickFacts) => set({ clickFacts })}
      />
    </div>
  );
}

export const summariseBehaviour = ({ permanent, forwardQuery, clickFacts }: LinkForm): string =>
  [permanent ? t.isPermanent : t.temporary, forwardQuery && t.forwards, !clickFacts && t.noFacts]
    .filter(Boolean)
    .join(" · ");
