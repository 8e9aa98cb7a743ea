import { lazy, Suspense } from "react";
import { previewTexts as t } from "../../texts/edit.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Skeleton } from "../../ui/states.tsx";
import { useDestinationCheck } from "./destination-field.tsx";
import type { Editor } from "./editor.ts";
import { shortly } from "./link-form.ts";
import { SocialPreview } from "./social-preview.tsx";
import { VisitorPreview } from "./visitor-preview.tsx";

const QrBox = lazy(() => import("./qr/qr-box.tsx").then((module) => ({ default: module.QrBox })));

interface PreviewProps {
  readonly editor: Editor;
  readonly shortUrl: string;
  /** Whether the code is known. */
  readonly isFinal: boolean;
  readonly isStored: boolean;
  readonly onDesign: () => void;
}

/** What becomes of the form, while it is filled in. */
export function Preview({ editor, shortUrl, isFinal, isStored, onDesign }: PreviewProps) {
  const { form } = editor;
  const { check } = useDestinationCheck(form.url, form.kind === "url");
  const name = shortly(shortUrl);
  return (
    <section aria-label={t.title} className="grid grid-cols-[minmax(0,1fr)] gap-6">
      <div className="flex items-start justify-center gap-1">
        <p className="min-w-0 text-center text-16 font-semibold break-all">
          {isFinal ? name : `${name.slice(0, name.indexOf("/") + 1)}…`}
          {!isFinal && <span className="block text-12 font-normal text-text-3">{t.random}</span>}
        </p>
        {isStored && <CopyButton text={shortUrl} label={t.copy(name)} copiedLabel={t.copied} />}
      </div>
      <Suspense fallback={<Skeleton className="mx-auto mb-[66px] size-44 rounded-3" />}>
        <QrBox shortUrl={shortUrl} isFinal={isFinal} isStored={isStored} onDesign={onDesign} layout="column" />
      </Suspense>
      <VisitorPreview form={form} />
      {form.kind === "url" && <SocialPreview page={check?.page ?? undefined} url={form.url} title={form.title} />}
    </section>
  );
}
