import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import CircleCheck from "lucide-react/icons/circle-check";
import Link2 from "lucide-react/icons/link-2";
import TriangleAlert from "lucide-react/icons/triangle-alert";
import { type RefObject, useState } from "react";
import type { DestinationCheck, DestinationPage } from "../../api/generated.ts";
import { listQuery } from "../../api/queries.ts";
import { formatBytes, formatNumber } from "../../format.ts";
import { useSettled } from "../../forms.ts";
import { destinationTexts as t } from "../../texts/edit.ts";
import { Combobox } from "../../ui/combobox.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { Loading } from "../../ui/states.tsx";
import { Segmented } from "../../ui/tabs.tsx";
import { useWorkspace } from "../../workspace.ts";
import type { Editor } from "./editor.ts";
import { shortly, withScheme } from "./link-form.ts";

const settleMs = 500;

/** What the server knows about the address, once nothing was typed for a moment. */
export function useDestinationCheck(url: string, isAsked: boolean) {
  const { slug, can } = useWorkspace();
  const wanted = withScheme(url);
  const settled = useSettled(wanted, settleMs);
  const isComplete = URL.canParse(settled) && /^https?:$/.test(new URL(settled).protocol);
  const { data, isFetching, isError } = useQuery({
    ...listQuery(slug, "GET /api/links/check-destination", { url: settled }),
    enabled: isAsked && settled !== "" && (isComplete || settled === wanted) && can("links:write"),
    staleTime: 60_000,
    retry: false,
  });
  const isCurrent = settled === wanted && settled !== "";
  return { check: isCurrent ? data : undefined, isComplete, isChecking: isFetching || !isCurrent, isError };
}

interface DestinationFieldProps {
  readonly editor: Editor;
  readonly input: RefObject<HTMLInputElement | null>;
  readonly disabled: boolean;
}

/** One field for both kinds, so that the focus stays where it is when somebody switches. */
export function DestinationField({ editor, input, disabled }: DestinationFieldProps) {
  const { form, set, errorOf } = editor;
  const { slug, can } = useWorkspace();
  const [isLeft, setLeft] = useState(false);
  const isUrl = form.kind === "url";
  const { check, isComplete, isChecking, isError } = useDestinationCheck(form.url, isUrl && form.url !== "");
  // Half an address is no mistake while somebody types it.
  const refusal = isComplete || isLeft ? check?.errors[0]?.message : undefined;
  const error = isUrl ? (errorOf("url") ?? refusal) : (errorOf("file") ?? errorOf("url"));
  const isBusy = form.url !== "" && isChecking && !isError && isComplete;
  const urlHint = error ? undefined : <CheckLine check={check} isBusy={isBusy} isError={isError && isComplete} />;
  const fileHint = can("files:write") && (
    <Link
      to="/w/$workspace/files"
      params={{ workspace: slug }}
      search={{}}
      className="text-accent-text hover:underline max-sm:inline-flex max-sm:min-h-11 max-sm:items-center"
    >
      {t.upload}
    </Link>
  );
  return (
    <Field
      label={t.label}
      error={error}
      hint={isUrl ? urlHint : fileHint}
      remark={
        can("files:read") &&
        !disabled && (
          <Segmented
            label={t.kind}
            value={form.kind}
            onValueChange={(kind) => set({ kind })}
            options={[
              { value: "url", label: t.url },
              { value: "file", label: t.file },
            ]}
          />
        )
      }
    >
      {isUrl ? (
        <Input
          type="url"
          icon={Link2}
          ref={input}
          readOnly={disabled}
          value={form.url}
          placeholder={t.placeholder}
          title={form.url}
          inputMode="url"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          onBlur={() => {
            setLeft(true);
            const full = withScheme(form.url);
            if (full !== form.url) set({ url: full });
          }}
          onChange={(event) => {
            setLeft(false);
            set({ url: event.target.value });
          }}
        />
      ) : (
        <FilePicker editor={editor} disabled={disabled} />
      )}
    </Field>
  );
}

interface CheckLineProps {
  readonly check: DestinationCheck | undefined;
  readonly isBusy: boolean;
  readonly isError: boolean;
}

/** One line that is always there, so that nothing jumps while somebody types. */
function CheckLine({ check, isBusy, isError }: CheckLineProps) {
  const line = "flex min-h-4 items-start gap-[5px]";
  if (isError) return <p className={line}>{t.noCheck}</p>;
  if (check === undefined || !check.isValid) {
    return (
      <p className={line}>{isBusy && <Loading label={t.checking} visible className="[&>svg]:size-3.5 text-12" />}</p>
    );
  }
  const { page } = check;
  if (page === null) return <p className={line}>{t.valid}</p>;
  const isGood = page.state === "ok";
  const Icon = isGood ? CircleCheck : TriangleAlert;
  const tone = isGood ? "text-ok" : page.state === "failing" ? "text-warn" : "text-text-3";
  return (
    <p role="status" className={line}>
      <Icon className={`mt-px size-3.5 ${tone}`} />
      <span className="line-clamp-2">{sentences(page).join(" ")}</span>
    </p>
  );
}

function sentences(page: DestinationPage): string[] {
  const reason = t.reasons[page.reason as keyof typeof t.reasons] ?? page.reason ?? "";
  if (page.state === "unchecked") return [t.unchecked(reason)];
  if (page.state === "failing")
    return [page.httpStatus === null ? t.fails(reason) : t.answers(String(page.httpStatus))];
  return [
    ...(page.responseMs === null ? [] : [t.responds(milliseconds(page.responseMs))]),
    ...(page.title ? [t.title(page.title)] : []),
  ];
}

const milliseconds = (value: number): string => `${formatNumber(value)} ms`;

function FilePicker({ editor, disabled }: Omit<DestinationFieldProps, "input">) {
  const { form, set } = editor;
  const { slug } = useWorkspace();
  const { data, isPending } = useQuery({ ...listQuery(slug, "GET /api/files", { limit: 100 }), staleTime: 30_000 });
  const stored = data?.items.filter(({ state }) => state === "stored") ?? [];
  const options = stored.map(({ id, name, size }) => ({ value: id, label: name, remark: formatBytes(size) }));
  const isGone = form.file !== null && data?.nextCursor === null && !options.some(({ value }) => value === form.file);
  if (isGone && form.file !== null) options.push({ value: form.file, label: t.unnamedFile, remark: "" });
  return (
    <Combobox
      value={form.file}
      onValueChange={(file) => set({ file })}
      options={options}
      disabled={disabled}
      placeholder={t.filePlaceholder}
      emptyText={t.fileEmpty}
      loadingText={isPending ? t.fileLoading : undefined}
      clearLabel={t.clear}
      openLabel={t.open}
    />
  );
}

/** Of the file that the form leads to, as people know it. */
export function useFileName(id: string | null): string | undefined {
  const { slug, can } = useWorkspace();
  const { data } = useQuery({
    ...listQuery(slug, "GET /api/files", { limit: 100 }),
    enabled: id !== null && can("files:read"),
    staleTime: 30_000,
  });
  return id === null ? undefined : data?.items.find((file) => file.id === id)?.name;
}

export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : shortly(url));
