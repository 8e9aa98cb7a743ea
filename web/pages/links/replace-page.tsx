import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link as RouterLink, useSearch } from "@tanstack/react-router";
import ArrowLeft from "lucide-react/icons/arrow-left";
import SearchX from "lucide-react/icons/search-x";
import TriangleAlert from "lucide-react/icons/triangle-alert";
import { type FormEvent, useMemo, useRef, useState } from "react";
import { ApiError, call } from "../../api/call.ts";
import type { ReplacementPreview } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { fieldErrorsOf, focusFirstError, messageOf, useDraft } from "../../forms.ts";
import { linksTexts, replaceTexts as t, trashTexts } from "../../texts/links.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { Select } from "../../ui/select.tsx";
import { Empty, Notice } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { bulkFilter, hasFilters, readAddress } from "./list-address.ts";
import { useUndo } from "./use-bulk.ts";

const shownMost = 100;

/** Find and replace in destinations: first what would change, then exactly that, then Undo. */
export function ReplacePage() {
  const { slug } = useWorkspace();
  const search = useSearch({ strict: false });
  const address = useMemo(() => readAddress(search), [search]);
  const isFiltered = hasFilters(address);
  const [typed, setTyped, clearDraft] = useDraft("replace", { find: "", replace: "" });
  const [where, setWhere] = useState(isFiltered ? "filter" : "all");
  const [wasChanged, setWasChanged] = useState(false);
  const queries = useQueryClient();
  const toast = useToast();
  const takeBack = useUndo();
  const form = useRef<HTMLFormElement>(null);
  const order = { ...typed, ...(where === "filter" && { filter: bulkFilter(address) }) };

  const preview = useMutation({
    mutationFn: () => call("POST /api/links/replace/preview", { body: { ...order, limit: shownMost } }),
    onError: () => focusFirstError(form.current),
  });
  const apply = useMutation({
    mutationFn: (token: string) => call("PATCH /api/links/replace", { body: { ...order, token } }),
    onSuccess: ({ changed, undo }) => {
      const action = { label: linksTexts.undo, onAction: () => void takeBack(undo) };
      toast({ message: t.done(changed), ...(undo.length > 0 && { action }) });
      clearDraft();
      setTyped({ find: "", replace: "" });
      preview.reset();
      void refresh(queries, "/api/links");
    },
    onError: (error) => {
      if (!(error instanceof ApiError) || error.code !== "version_conflict") return;
      setWasChanged(true);
      preview.mutate();
    },
  });
  const change = (next: Partial<typeof typed>) => {
    setTyped({ ...typed, ...next });
    setWasChanged(false);
    preview.reset();
    apply.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setWasChanged(false);
    preview.mutate();
  };
  const errors = fieldErrorsOf(preview.error);
  const rest = preview.isError && Object.keys(errors).length === 0 ? messageOf(preview.error) : undefined;

  return (
    <>
      <PageHeader
        title={t.title}
        description={t.description}
        actions={
          <RouterLink
            to="/w/$workspace/links"
            params={{ workspace: slug }}
            search={search}
            className={buttonClass({ variant: "quiet" })}
          >
            <ArrowLeft />
            {trashTexts.toLinks}
          </RouterLink>
        }
      />
      <form ref={form} onSubmit={submit} noValidate className="grid max-w-[680px] gap-4">
        <Field label={t.find} hint={t.findHint} error={errors.find}>
          <Input
            value={typed.find}
            maxLength={2_048}
            autoComplete="off"
            spellCheck={false}
            placeholder={t.findExample}
            onChange={(event) => change({ find: event.target.value })}
          />
        </Field>
        <Field label={t.replaceWith} error={errors.replace}>
          <Input
            value={typed.replace}
            maxLength={2_048}
            autoComplete="off"
            spellCheck={false}
            placeholder={t.replaceExample}
            onChange={(event) => change({ replace: event.target.value })}
          />
        </Field>
        {isFiltered && (
          <Field label={t.where} error={errors.filter}>
            <Select
              value={where}
              options={[
                { value: "filter", label: t.inFilter },
                { value: "all", label: t.inAll },
              ]}
              onValueChange={(value) => {
                setWhere(value);
                preview.reset();
              }}
            />
          </Field>
        )}
        {rest && <Notice tone="bad">{rest}</Notice>}
        <div>
          <Button type="submit" variant={preview.data ? "secondary" : "primary"} loading={preview.isPending}>
            {t.preview}
          </Button>
        </div>
      </form>
      {preview.data && (
        <Result
          preview={preview.data}
          find={typed.find}
          replaced={typed.replace}
          wasChanged={wasChanged}
          isApplying={apply.isPending}
          error={apply.isError && !wasChanged ? messageOf(apply.error) : undefined}
          onApply={(token) => apply.mutate(token)}
        />
      )}
    </>
  );
}

interface ResultProps {
  readonly preview: ReplacementPreview;
  readonly find: string;
  readonly replaced: string;
  readonly wasChanged: boolean;
  readonly isApplying: boolean;
  readonly error: string | undefined;
  readonly onApply: (token: string) => void;
}

function Result({ preview, find, replaced, wasChanged, isApplying, error, onApply }: ResultProps) {
  const { changes, invalid, items, token } = preview;
  if (changes + invalid === 0) return <Empty icon={SearchX}>{t.nothing(find)}</Empty>;
  return (
    <section aria-label={t.results} className="mt-6 grid gap-3">
      {wasChanged && <Notice tone="warn">{t.changedMeanwhile}</Notice>}
      {error && <Notice tone="bad">{error}</Notice>}
      {invalid > 0 && (
        <Notice tone="warn" icon={TriangleAlert}>
          {t.invalid(invalid)}
        </Notice>
      )}
      <div className="flex flex-wrap items-center gap-3">
        <p role="status" className="flex-1">
          <b className="font-semibold">{t.wouldChange(changes)}</b>
          {changes + invalid > items.length && <span className="text-text-3"> {t.shown(items.length)}</span>}
        </p>
        {token !== null && (
          <Button variant="primary" loading={isApplying} onClick={() => onApply(token)}>
            {t.apply(changes)}
          </Button>
        )}
      </div>
      <ul className="overflow-hidden rounded-3 border border-line bg-surface">
        {items.map((item) => (
          <li key={item.id} className="grid gap-1 border-b border-line px-3.5 py-2.5 last:border-b-0">
            <p className="truncate" title={item.title ?? undefined}>
              {item.shortUrl.replace(/^https?:\/\//, "")}
              {item.title !== null && <span className="ml-2 text-12 text-text-3">{item.title}</span>}
            </p>
            {item.fields.map(({ field, before, after }) => (
              <p key={field} className="grid gap-0.5 text-12 sm:grid-cols-[88px_minmax(0,1fr)]">
                <span className="text-text-3">{fieldName(field)}</span>
                <span className="grid min-w-0 gap-0.5">
                  <del className="break-all text-text-3">
                    <span className="sr-only">{t.before} </span>
                    <Marked text={before} part={find} className="bg-bad-soft text-bad" />
                  </del>
                  <ins className="break-all no-underline">
                    <span className="sr-only">{t.after} </span>
                    <Marked text={after} part={replaced} className="bg-ok-soft text-ok" />
                  </ins>
                </span>
              </p>
            ))}
            {item.problem && (
              <p className="flex items-center gap-1.5 text-12 text-warn">
                <TriangleAlert className="size-3.5" />
                {item.problem.errors?.[0]?.message ?? item.problem.detail}
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function fieldName(field: string): string {
  const [first = ""] = field.split(".");
  const names: Readonly<Record<string, string>> = t.field;
  return names[first] ?? first;
}

function Marked({
  text,
  part,
  className,
}: {
  readonly text: string;
  readonly part: string;
  readonly className: string;
}) {
  const pieces = part === "" ? [text] : text.split(part);
  return pieces.map((piece, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text have no other name
    <span key={place}>
      {place > 0 && <mark className={`rounded-1 ${className}`}>{part}</mark>}
      {piece}
    </span>
  ));
}
