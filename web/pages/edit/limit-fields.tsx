import { useQuery } from "@tanstack/react-query";
import ChevronDown from "lucide-react/icons/chevron-down";
import { listQuery } from "../../api/queries.ts";
import { formatNumber, readerLanguage } from "../../format.ts";
import { limitTexts as t } from "../../texts/edit.ts";
import { DateField } from "../../ui/date-field.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { useWorkspace } from "../../workspace.ts";
import type { Editor } from "./editor.ts";
import { endOfDay, localTime } from "./link-form.ts";

export const useTenant = () => {
  const { slug } = useWorkspace();
  return useQuery({ ...listQuery(slug, "GET /api/tenant"), staleTime: 60_000 });
};

const hourMs = 3_600_000;
const presets = [
  { label: t.hour, at: () => localTime(new Date(Date.now() + hourMs)) },
  { label: t.today, at: () => endOfDay(new Date(), 0) },
  { label: t.week, at: () => endOfDay(new Date(), 7) },
  { label: t.month, at: () => endOfDay(new Date(), 30) },
  { label: t.quarter, at: () => endOfDay(new Date(), 90) },
  { label: t.year, at: () => endOfDay(new Date(), 365) },
  { label: t.neverPreset, at: () => "" },
] as const;

interface LimitFieldsProps {
  readonly editor: Editor;
  readonly linkId: string | undefined;
  readonly disabled: boolean;
}

export function LimitFields({ editor, linkId, disabled }: LimitFieldsProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <ExpiryField editor={editor} disabled={disabled} />
      <HitsField editor={editor} linkId={linkId} disabled={disabled} />
    </div>
  );
}

function ExpiryField({ editor, disabled }: Omit<LimitFieldsProps, "linkId">) {
  const { form, set, errorOf } = editor;
  const said = sayExpiry(form.expires);
  return (
    <Field
      label={t.expires}
      error={errorOf("expiresAt")}
      remark={
        disabled ? (
          said
        ) : (
          <Menu
            trigger={
              <button
                type="button"
                aria-label={t.presets(said)}
                className="-my-1 inline-flex items-center gap-1 rounded-1 px-1 hover:bg-hover hover:text-text max-sm:min-h-11 max-sm:text-14"
              >
                {said}
                <ChevronDown className="size-3" />
              </button>
            }
          >
            {presets.map(({ label, at }) => (
              <MenuItem key={label} onSelect={() => set({ expires: at() })}>
                {label}
              </MenuItem>
            ))}
          </Menu>
        )
      }
    >
      <DateField readOnly={disabled} value={form.expires} onValueChange={(expires) => set({ expires })} />
    </Field>
  );
}

const relative = new Intl.RelativeTimeFormat(readerLanguage, { numeric: "always" });
const spans = [
  ["minute", 60],
  ["hour", 24],
  ["day", 60],
  ["month", 12],
  ["year", Number.POSITIVE_INFINITY],
] as const;

/** "in 3 days": in the largest unit that fits, rounded. */
function sayExpiry(local: string): string {
  if (local === "") return t.never;
  let value = (new Date(local).getTime() - Date.now()) / 60_000;
  if (value <= 0) return t.expired;
  for (const [unit, most] of spans) {
    if (Math.round(value) < most) return relative.format(Math.round(value), unit);
    value /= unit === "day" ? 30.44 : most;
  }
  return t.never;
}

function HitsField({ editor, linkId, disabled }: LimitFieldsProps) {
  const { form, set, errorOf } = editor;
  const { slug, can } = useWorkspace();
  const { data: tenant } = useTenant();
  const { data: usage } = useQuery({
    ...listQuery(slug, "GET /api/usage"),
    enabled: can("usage:read"),
    staleTime: 60_000,
  });
  const most = tenant?.limits.hitsPerLinkPerMonth;
  const used = usage?.hitsPerLinkPerMonth.find(({ link }) => link === linkId)?.used;
  return (
    <Field
      label={t.hits}
      error={errorOf("hitsPerMonth")}
      remark={most === undefined ? undefined : most === null ? t.noPlanLimit : t.planMaximum(formatNumber(most))}
      hint={used == null ? undefined : t.used(formatNumber(used))}
    >
      <Input
        value={form.hits}
        readOnly={disabled}
        inputMode="numeric"
        autoComplete="off"
        placeholder={t.asPlan}
        suffix={t.perMonth}
        className="num"
        onChange={(event) => set({ hits: event.target.value })}
      />
    </Field>
  );
}
