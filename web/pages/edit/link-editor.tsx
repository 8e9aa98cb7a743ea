import ArrowLeft from "lucide-react/icons/arrow-left";
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import type { Link } from "../../api/generated.ts";
import { focusFirstError } from "../../forms.ts";
import { isMac } from "../../keys.ts";
import { useLinkDrawer } from "../../shell/link-drawer.ts";
import { editTexts as t } from "../../texts/edit.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { copyText } from "../../ui/copy-text.ts";
import { Drawer } from "../../ui/drawer.tsx";
import { Notice, Skeleton } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { useDomains } from "./code-field.tsx";
import { Conflict } from "./conflict.tsx";
import { useEditor } from "./editor.ts";
import { History } from "./history.tsx";
import { LinkFields } from "./link-fields.tsx";
import { formOf, type LinkForm, shortly } from "./link-form.ts";
import { LinkMenu } from "./link-menu.tsx";
import { Preview } from "./preview.tsx";
import { useSave } from "./use-save.ts";

const QrDesigner = lazy(() => import("./qr/qr-designer.tsx").then((module) => ({ default: module.QrDesigner })));

interface LinkEditorProps {
  readonly title: string;
  readonly draftName: string;
  readonly initial: LinkForm;
  /** The form after "Create another". */
  readonly again: (() => LinkForm) | undefined;
  /** About how the form began. */
  readonly notice?: string | undefined;
  /** Undefined: a new one. */
  readonly link: Link | undefined;
}

type Part = "details" | "qr" | "history";

/** The drawer of one link: its form with a live preview, its QR code and its history. */
export function LinkEditor({ title, draftName, initial, again, notice, link }: LinkEditorProps) {
  const drawer = useLinkDrawer();
  const toast = useToast();
  const { can } = useWorkspace();
  const mayWrite = can("links:write");
  const editor = useEditor(draftName, initial, link);
  const { form, base } = editor;
  // A draft of an older version: what others saved since then is shown first.
  const isBehind = link !== undefined && base !== undefined && base.version < link.version && editor.isFromDraft;
  const save = useSave(editor, isBehind ? link : undefined);
  const [isAnother, setAnother] = useState(false);
  // After the next picture: a new object for each time.
  const [focusOn, setFocusOn] = useState<{ readonly what: "start" | "error" }>();
  const body = useRef<HTMLDivElement>(null);
  const destination = useRef<HTMLInputElement>(null);
  const part: Part = drawer.part === "qr" ? "qr" : drawer.part === "history" && link ? "history" : "details";
  const shortUrl = useShortUrl(form, link);
  const isFinal = link !== undefined || form.code.trim() !== "";

  // Somebody else changed it, and nothing was typed here yet: their version is the one to edit.
  if (link !== undefined && base !== undefined && base.version < link.version && !editor.isChanged) {
    editor.reset(formOf(link), link);
  }

  // Without starting again, which would take the focus from somebody who types.
  if (link === undefined) editor.follow(initial);

  useEffect(() => {
    if (focusOn?.what === "error") focusFirstError(body.current);
    if (focusOn?.what === "start") destination.current?.focus();
  }, [focusOn]);
  const hasSave = mayWrite && save.theirs === undefined && (part === "details" || editor.isChanged);

  const finish = (stored: Link) => {
    const name = shortly(stored.shortUrl);
    const copy = () =>
      void copyText(stored.shortUrl).then((isCopied) => isCopied && toast({ message: t.copied(name), key: "copied" }));
    toast({
      message: link === undefined ? t.created(name) : t.saved(name),
      action: link === undefined ? { label: t.copyLink, onAction: copy } : undefined,
    });
    if (isAnother && again !== undefined) {
      editor.reset({ ...again(), domain: form.domain, tags: form.tags }, undefined);
      setFocusOn({ what: "start" });
      return;
    }
    editor.reset(formOf(stored), stored);
    drawer.close();
  };
  const submit = async () => {
    if (!mayWrite || save.theirs !== undefined) return;
    if (part !== "details") drawer.show(undefined);
    if (link !== undefined && !editor.isChanged) {
      toast({ message: t.nothingChanged });
      drawer.close();
      return;
    }
    const stored = await save.send();
    if (stored !== undefined) finish(stored);
    else setFocusOn({ what: "error" });
  };
  const merge = async (merged: LinkForm) => {
    const stored = await save.sendMerged(merged);
    if (stored !== undefined) finish(stored);
  };

  const details =
    save.theirs !== undefined && base !== undefined ? (
      <Conflict
        key={save.theirs.version}
        base={base}
        form={form}
        theirs={save.theirs}
        isSaving={save.isSaving}
        onChoose={(merged) => void merge(merged)}
      />
    ) : (
      <>
        {!mayWrite && <Notice>{t.mayNot}</Notice>}
        {editor.isFromDraft && editor.isChanged && (
          <Notice
            tone="accent"
            action={
              <Button size="sm" onClick={() => editor.reset(link ? formOf(link) : initial, link)}>
                {link ? t.draftDiscardChanges : t.draftDiscard}
              </Button>
            }
          >
            {t.draftBack}
          </Notice>
        )}
        {notice && <Notice>{notice}</Notice>}
        {save.failure && <Notice tone="bad">{save.failure}</Notice>}
        <LinkFields
          editor={editor}
          link={link}
          destination={destination}
          mayWrite={mayWrite}
          shortUrl={shortUrl}
          isFinal={isFinal}
          onDesign={() => drawer.show("qr")}
        />
      </>
    );
  const parts: Readonly<Record<Part, () => ReactNode>> = {
    details: () => details,
    qr: () => (
      <Suspense fallback={<Skeleton className="h-80 w-full" />}>
        <QrDesigner shortUrl={shortUrl} isFinal={isFinal} />
      </Suspense>
    ),
    history: () => link && <History link={link} />,
  };

  return (
    <Drawer
      open
      onClose={drawer.close}
      title={title}
      closeLabel={t.close}
      size="wide"
      // Not the first control, which is a tab: with the focus it would show its own part.
      initialFocus={link ? body : destination}
      actions={link && <LinkMenu link={link} />}
      onSubmit={() => void submit()}
      aside={
        part === "details" &&
        save.theirs === undefined && (
          <Preview
            editor={editor}
            shortUrl={shortUrl}
            isFinal={isFinal}
            isStored={link !== undefined}
            onDesign={() => drawer.show("qr")}
          />
        )
      }
      footer={
        <>
          {again && mayWrite && <Checkbox label={t.createAnother} checked={isAnother} onCheckedChange={setAnother} />}
          <span className="flex-1" />
          <Button className={again ? "max-sm:hidden" : ""} onClick={drawer.close}>
            {hasSave ? t.cancel : t.close}
          </Button>
          {hasSave && (
            <Button type="submit" variant="primary" kbd={isMac ? "⌘↵" : "Ctrl ↵"} loading={save.isSaving}>
              {link ? t.save : t.create}
            </Button>
          )}
        </>
      }
    >
      <div
        ref={body}
        tabIndex={-1}
        className="grid scroll-mt-[18px] grid-cols-[minmax(0,1fr)] content-start gap-4 outline-hidden"
      >
        {link ? (
          <Tabs
            label={t.parts}
            value={part}
            onValueChange={(next: Part) => drawer.show(next === "details" ? undefined : next)}
            options={[
              { value: "details", label: t.details },
              { value: "qr", label: t.qr },
              { value: "history", label: t.history },
            ]}
          >
            <div className="grid grid-cols-[minmax(0,1fr)] gap-4">{parts[part]()}</div>
          </Tabs>
        ) : (
          <>
            {part === "qr" && (
              <div className="-ml-2">
                <Button size="sm" variant="quiet" icon={ArrowLeft} onClick={() => drawer.show(undefined)}>
                  {t.back}
                </Button>
              </div>
            )}
            {parts[part]()}
          </>
        )}
      </div>
    </Drawer>
  );
}

/** As it will be. Until a code is typed, a sample of the same length stands for it. */
function useShortUrl(form: LinkForm, link: Link | undefined): string {
  const domains = useDomains();
  if (link !== undefined) return link.shortUrl;
  const domain = form.domain === "" ? (domains[0] ?? window.location.host) : form.domain;
  const protocol = domain === window.location.host ? window.location.protocol : "https:";
  const code = form.code.trim();
  return `${protocol}//${domain}/${code === "" ? sampleCode : code}`;
}

const sampleCode = "0000000";
