import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { addressOf } from "../../api/call.ts";
import type { EmailSample } from "../../api/generated.ts";
import { listQuery } from "../../api/queries.ts";
import { messageOf } from "../../forms.ts";
import { oneOf } from "../../search.ts";
import { commonTexts } from "../../texts/common.ts";
import { emailTexts as t } from "../../texts/email.ts";
import { currentTheme } from "../../theme.ts";
import { Section } from "../../ui/card.tsx";
import { cx } from "../../ui/class-names.ts";
import { Field } from "../../ui/field.tsx";
import { Select } from "../../ui/select.tsx";
import { ErrorState, SkeletonRows } from "../../ui/states.tsx";
import { Segmented } from "../../ui/tabs.tsx";
import { useWorkspace } from "../../workspace.ts";

const looks = ["light", "dark", "text"] as const;
type Look = (typeof looks)[number];

/** Every email that is sent, with sample values. Which one is shown, and how, is in the address. */
export function EmailPreview() {
  const { slug } = useWorkspace();
  const samples = useQuery({ ...listQuery(slug, "GET /api/email/templates"), staleTime: 300_000 });
  return (
    <Section title={t.preview} description={t.previewText}>
      {samples.data !== undefined ? (
        <Samples items={samples.data.items} />
      ) : samples.isError ? (
        <ErrorState
          message={`${t.previewFailed} ${messageOf(samples.error)}`}
          retryLabel={commonTexts.tryAgain}
          retrying={samples.isFetching}
          onRetry={() => void samples.refetch()}
        />
      ) : (
        <SkeletonRows rows={4} label={commonTexts.loading} />
      )}
    </Section>
  );
}

function Samples({ items }: { readonly items: readonly EmailSample[] }) {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const shown = items.find(({ name }) => name === oneOf(search.email)) ?? items[0];
  const look = looks.find((one) => one === oneOf(search.look)) ?? themeOfPage();
  const show = (next: Readonly<Record<string, string>>) =>
    void navigate({
      ...{ to: ".", search: (before: object) => ({ ...before, ...next }), replace: true, resetScroll: false },
    });
  if (shown === undefined) return null;
  return (
    <div className="grid gap-3">
      <Field label={t.previewOf} hint={t.previewTo[shown.to]}>
        <Select
          value={shown.name}
          onValueChange={(email) => show({ email })}
          options={items.map(({ name }) => ({ value: name, label: t.previewNames[name] }))}
        />
      </Field>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p className="min-w-0 flex-1 basis-56">
          <span className="text-text-3">{t.subject}</span>{" "}
          <span data-value="" className="font-medium break-words">
            {shown.subject}
          </span>
        </p>
        <Segmented<Look>
          label={t.look}
          value={look}
          onValueChange={(next) => show({ look: next })}
          options={looks.map((value) => ({ value, label: t.looks[value] }))}
        />
      </div>
      <Picture sample={shown} look={look} />
    </div>
  );
}

const pictureClass = "w-full rounded-2 border border-line";

/** The HTML comes from an address of its own: its inline styles would not be allowed in this page. */
function Picture({ sample: { name, subject, text }, look }: { readonly sample: EmailSample; readonly look: Look }) {
  const { slug } = useWorkspace();
  if (look === "text") {
    return <pre className={cx(pictureClass, "bg-sunken p-4 text-12 break-words whitespace-pre-wrap")}>{text}</pre>;
  }
  return (
    <iframe
      key={`${name} ${look}`}
      title={subject}
      src={addressOf("GET /api/email/templates/preview", { query: { name, theme: look, workspace: slug } })}
      sandbox=""
      loading="lazy"
      className={cx(pictureClass, "h-[560px]")}
    />
  );
}

/** The first look is the one that the page has. */
function themeOfPage(): "light" | "dark" {
  const theme = currentTheme();
  if (theme !== "system") return theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
