import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, type RefObject, Suspense, useState } from "react";
import type { Link } from "../../api/generated.ts";
import { listQuery } from "../../api/queries.ts";
import { formatNumber } from "../../format.ts";
import {
  aboutTexts,
  behaviourTexts,
  editTexts,
  previewTexts,
  protectTexts,
  splitTexts,
  utmTexts,
} from "../../texts/edit.ts";
import { Details, DetailsList } from "../../ui/details.tsx";
import { Notice, Skeleton } from "../../ui/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { AboutFields } from "./about-fields.tsx";
import { BehaviourFields, summariseBehaviour } from "./behaviour-fields.tsx";
import { CodeField } from "./code-field.tsx";
import { DestinationField } from "./destination-field.tsx";
import type { Editor } from "./editor.ts";
import { LimitFields } from "./limit-fields.tsx";
import type { LinkForm } from "./link-form.ts";
import { shortly, summariseUtm } from "./link-form.ts";
import { ProtectFields } from "./protect-fields.tsx";
import { RulesField } from "./rules/rules-field.tsx";
import { SplitField } from "./split-field.tsx";
import { UtmFields } from "./utm-fields.tsx";
import { VisitorPreview } from "./visitor-preview.tsx";

const QrBox = lazy(() => import("./qr/qr-box.tsx").then((module) => ({ default: module.QrBox })));

interface LinkFieldsProps {
  readonly editor: Editor;
  readonly link: Link | undefined;
  readonly destination: RefObject<HTMLInputElement | null>;
  readonly mayWrite: boolean;
  readonly shortUrl: string;
  readonly isFinal: boolean;
  readonly onDesign: () => void;
}

/** The form from top to bottom: what everybody fills in, then what is folded. */
export function LinkFields({ editor, link, destination, mayWrite, shortUrl, isFinal, onDesign }: LinkFieldsProps) {
  const { form } = editor;
  const disabled = !mayWrite;
  return (
    <>
      {link === undefined && <LinksLeft />}
      <DestinationField editor={editor} input={destination} disabled={disabled} />
      {link === undefined && <CodeField editor={editor} />}
      <LimitFields editor={editor} linkId={link?.id} disabled={disabled} />
      <RulesField editor={editor} disabled={disabled} />
      <div className="lg:hidden">
        <Suspense fallback={<Skeleton className="h-28 w-full rounded-3" />}>
          <QrBox shortUrl={shortUrl} isFinal={isFinal} isStored={link !== undefined} onDesign={onDesign} layout="row" />
        </Suspense>
      </div>
      <DetailsList>
        <Fold
          title={aboutTexts.title}
          summary={[...form.tags, form.title, shortly(form.notes)].filter((text) => text !== "").join(" · ")}
          isWrong={editor.hasError("tags", "title", "notes")}
        >
          <AboutFields editor={editor} disabled={disabled} />
        </Fold>
        <Fold title={utmTexts.title} summary={summariseUtm(form.utm)} isWrong={editor.hasError("utm")}>
          <UtmFields editor={editor} disabled={disabled} />
        </Fold>
        <Fold
          title={splitTexts.title}
          summary={form.split.length === 0 ? "" : splitTexts.summary(form.split.length)}
          isWrong={editor.hasError("split")}
        >
          <SplitField editor={editor} disabled={disabled} />
        </Fold>
        <Fold
          title={protectTexts.title}
          summary={summariseProtection(form)}
          isWrong={editor.hasError("password", "fallbackUrl")}
        >
          <ProtectFields editor={editor} hasPassword={link?.password ?? false} disabled={disabled} />
        </Fold>
        <Fold title={behaviourTexts.title} summary={summariseBehaviour(form)} isWrong={false}>
          <BehaviourFields editor={editor} disabled={disabled} />
        </Fold>
        <div className="lg:hidden">
          <Fold title={previewTexts.visitor} summary=" " isWrong={false}>
            <VisitorPreview form={form} hideTitle />
          </Fold>
        </div>
      </DetailsList>
    </>
  );
}

interface FoldProps {
  readonly title: string;
  readonly summary: string;
  /** Opens by itself, so that the error can be seen. */
  readonly isWrong: boolean;
  readonly children: ReactNode;
}

function Fold({ title, summary, isWrong, children }: FoldProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Details
      title={title}
      summary={isOpen || isWrong ? "" : summary === "" ? editTexts.none : summary}
      open={isOpen || isWrong}
      onOpenChange={setOpen}
    >
      {(isOpen || isWrong) && children}
    </Details>
  );
}

const summariseProtection = ({ password, fallbackUrl }: LinkForm): string =>
  [password.mode !== "none" && protectTexts.set, shortly(fallbackUrl)].filter(Boolean).join(" · ");

const fewShare = 0.1;

/** Only when there are few: nobody needs to know it every time. */
function LinksLeft() {
  const { slug, can } = useWorkspace();
  const { data } = useQuery({
    ...listQuery(slug, "GET /api/usage"),
    enabled: can("usage:read"),
    staleTime: 60_000,
  });
  const use = data?.limits.find(({ name }) => name === "linksPerMonth");
  if (use?.used == null || use.limit === null) return null;
  const left = Math.max(0, use.limit - use.used);
  if (left > use.limit * fewShare) return null;
  return left === 0 ? (
    <Notice tone="bad">{editTexts.noneLeft}</Notice>
  ) : (
    <Notice tone="warn">{editTexts.fewLeft(formatNumber(left), left)}</Notice>
  );
}
