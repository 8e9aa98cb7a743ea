import { useState } from "react";
import type { Link } from "../../api/generated.ts";
import { conflictTexts as t } from "../../texts/edit.ts";
import { Button } from "../../ui/button.tsx";
import { cx } from "../../ui/class-names.ts";
import { Notice } from "../../ui/states.tsx";
import { type Difference, differencesOf, merged, type Side } from "./differences.ts";
import { fieldName } from "./field-values.ts";
import type { LinkForm } from "./link-form.ts";

interface ConflictProps {
  readonly base: Link;
  readonly form: LinkForm;
  readonly theirs: Link;
  readonly isSaving: boolean;
  readonly onChoose: (merged: LinkForm) => void;
}

/** It takes the place of a form that may be scrolled to its end. */
const intoView = (whole: HTMLElement | null) => whole?.scrollIntoView({ block: "start" });

/** Two people edited one link: the second sees both versions field by field, and chooses. */
export function Conflict({ base, form, theirs, isSaving, onChoose }: ConflictProps) {
  const differences = differencesOf(base, form, theirs);
  const [chosen, setChosen] = useState<Readonly<Record<string, Side>>>({});
  const sideOf = ({ field, first }: Difference): Side => chosen[field] ?? first;
  const all = (side: Side) => setChosen(Object.fromEntries(differences.map(({ field }) => [field, side])));
  const merge = () => {
    const mine = differences.filter((difference) => sideOf(difference) === "mine").map(({ field }) => field);
    onChoose(merged(form, theirs, mine));
  };
  return (
    <div ref={intoView} className="grid scroll-mt-[18px] gap-4">
      <Notice tone="warn">
        <p className="font-medium">{t.title}</p>
        <p>{t.text}</p>
      </Notice>
      <div className="flex gap-2">
        <Button size="sm" onClick={() => all("mine")}>
          {t.allMine}
        </Button>
        <Button size="sm" onClick={() => all("theirs")}>
          {t.allTheirs}
        </Button>
      </div>
      {differences.map((difference) => (
        <fieldset key={difference.field} className="grid gap-1.5">
          <legend className="float-left flex w-full items-baseline font-medium">
            {fieldName(difference.field)}
            {difference.isByBoth && <span className="ml-auto text-12 font-normal text-warn">{t.both}</span>}
          </legend>
          <div className="grid gap-2 sm:grid-cols-2">
            {(["mine", "theirs"] as const).map((side) => (
              <label
                key={side}
                className={cx(
                  "flex items-start gap-2.5 rounded-2 border border-line-strong bg-surface p-2.5 hover:bg-hover",
                  "has-[:checked]:border-accent has-[:checked]:bg-selected has-[:focus-visible]:outline-2 has-[:focus-visible]:outline-focus",
                )}
              >
                <input
                  type="radio"
                  name={`version of ${difference.field}`}
                  checked={sideOf(difference) === side}
                  onChange={() => setChosen({ ...chosen, [difference.field]: side })}
                  className="mt-[3px] size-3.5 flex-none appearance-none rounded-full border border-line-control bg-surface outline-hidden checked:border-4 checked:border-accent"
                />
                <span className="min-w-0">
                  <span className="text-12 text-text-3">{side === "mine" ? t.yours : t.theirs}</span>
                  {difference[side].map((line) => (
                    <span key={line} className="block break-words">
                      {line}
                    </span>
                  ))}
                </span>
              </label>
            ))}
          </div>
        </fieldset>
      ))}
      <div>
        <Button variant="primary" loading={isSaving} onClick={merge}>
          {t.use}
        </Button>
      </div>
    </div>
  );
}
