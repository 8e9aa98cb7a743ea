import { useQuery } from "@tanstack/react-query";
import ArrowRightLeft from "lucide-react/icons/arrow-right-left";
import CalendarClock from "lucide-react/icons/calendar-clock";
import CirclePause from "lucide-react/icons/circle-pause";
import CirclePlay from "lucide-react/icons/circle-play";
import Download from "lucide-react/icons/download";
import ListChecks from "lucide-react/icons/list-checks";
import TagIcon from "lucide-react/icons/tag";
import Trash2 from "lucide-react/icons/trash-2";
import { type FormEvent, useState } from "react";
import { listQuery } from "../../api/queries.ts";
import { formatNumber } from "../../format.ts";
import { useIsOffline } from "../../shell/use-is-offline.ts";
import { linksTexts as t } from "../../texts/links.ts";
import { BulkBar, BulkSeparator } from "../../ui/bulk-bar.tsx";
import { Button } from "../../ui/button.tsx";
import { DateField } from "../../ui/date-field.tsx";
import { Field } from "../../ui/field.tsx";
import { Popover } from "../../ui/popover.tsx";
import { Select } from "../../ui/select.tsx";
import { useWorkspace } from "../../workspace.ts";
import { TagPicker } from "./tag-picker.tsx";
import { type BulkOrder, deletion } from "./use-bulk.ts";
import { useIsPhone } from "./use-is-phone.ts";
import type { Selection } from "./use-selection.ts";

type Change = Omit<BulkOrder, "target">;

interface BulkActionsProps {
  readonly selection: Selection;
  /** How many links match, if there are more than the selected ones. */
  readonly matching: number | undefined;
  readonly onChange: (change: Change) => void;
  readonly onExport: () => void;
}

export function BulkActions({ selection, matching, onChange, onExport }: BulkActionsProps) {
  const isOffline = useIsOffline();
  // A phone has room for the four that are used most.
  const isPhone = useIsPhone();
  const areDisabled = !selection.isAll && selection.links.every(({ status }) => status === "disabled");
  const offline = isOffline ? t.offline : undefined;
  return (
    <BulkBar
      label={t.bulk}
      summary={t.selected(selection.size)}
      clearLabel={t.clearSelection}
      onClear={selection.clear}
    >
      {matching !== undefined && !selection.isAll && (
        <Button variant="quiet" icon={ListChecks} onClick={selection.setAll}>
          {t.selectAllMatching(formatNumber(matching))}
        </Button>
      )}
      <TagAction onChange={onChange} />
      <ExpiryAction onChange={onChange} />
      <Button
        variant="quiet"
        icon={areDisabled ? CirclePlay : CirclePause}
        disabledReason={offline}
        onClick={() => onChange(areDisabled ? enable : disable)}
      >
        {areDisabled ? t.enable : t.disable}
      </Button>
      {selection.isAll && (
        <Button variant="quiet" icon={CirclePlay} disabledReason={offline} onClick={() => onChange(enable)}>
          {t.enable}
        </Button>
      )}
      {!isPhone && <MoveAction onChange={onChange} />}
      {!isPhone && (
        <Button variant="quiet" icon={Download} onClick={onExport}>
          {t.exportCsv}
        </Button>
      )}
      <BulkSeparator />
      <Button variant="danger" icon={Trash2} disabledReason={offline} onClick={() => onChange(deletion)}>
        {t.delete}
      </Button>
    </BulkBar>
  );
}

const disable: Change = {
  edit: { action: "edit", status: "disabled" },
  preview: (link) => ({ ...link, status: "disabled" }),
  done: t.disabledLinks,
};

const enable: Change = {
  edit: { action: "edit", status: "active" },
  preview: (link) => ({ ...link, status: "active" }),
  done: t.enabledLinks,
};

type ActionProps = Pick<BulkActionsProps, "onChange">;

function TagAction({ onChange }: ActionProps) {
  const [isOpen, setOpen] = useState(false);
  const [added, setAdded] = useState<readonly string[]>([]);
  const [removed, setRemoved] = useState<readonly string[]>([]);
  const [error, setError] = useState<string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (added.length + removed.length === 0) return setError(t.chooseTagFirst);
    setOpen(false);
    onChange({
      edit: {
        action: "edit",
        ...(added.length > 0 && { addTags: added }),
        ...(removed.length > 0 && { removeTags: removed }),
      },
      preview: (link) => ({
        ...link,
        tags: [...new Set([...link.tags.filter((tag) => !removed.includes(tag)), ...added])],
      }),
      done: t.taggedLinks,
    });
  };
  return (
    <Popover
      label={t.addRemoveTags}
      side="top"
      className="w-80"
      open={isOpen}
      onOpenChange={(open) => {
        setOpen(open);
        if (open) {
          setAdded([]);
          setRemoved([]);
          setError(undefined);
        }
      }}
      trigger={
        <Button variant="quiet" icon={TagIcon}>
          {t.addRemoveTags}
        </Button>
      }
    >
      <form onSubmit={submit} className="grid gap-3">
        <Field label={t.addTags} error={error}>
          <TagPicker values={added} onValuesChange={setAdded} canCreate />
        </Field>
        <Field label={t.removeTags}>
          <TagPicker values={removed} onValuesChange={setRemoved} />
        </Field>
        <Button type="submit" variant="primary" className="justify-self-end">
          {t.apply}
        </Button>
      </form>
    </Popover>
  );
}

function ExpiryAction({ onChange }: ActionProps) {
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState("");
  const [error, setError] = useState<string>();
  const apply = (expiresAt: string | null) => {
    setOpen(false);
    const edit = { action: "edit", expiresAt } as const;
    onChange({ edit, preview: (link) => ({ ...link, expiresAt }), done: t.expirySet });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (at === "" || Number.isNaN(Date.parse(at))) return setError(t.chooseDate);
    apply(new Date(at).toISOString());
  };
  return (
    <Popover
      label={t.expiry}
      side="top"
      className="w-72"
      open={isOpen}
      onOpenChange={(open) => {
        setOpen(open);
        setError(undefined);
      }}
      trigger={
        <Button variant="quiet" icon={CalendarClock}>
          {t.expiry}
        </Button>
      }
    >
      <form onSubmit={submit} className="grid gap-3">
        <Field label={t.expiresAt} error={error}>
          <DateField value={at} onValueChange={setAt} />
        </Field>
        <div className="flex justify-between gap-2">
          <Button onClick={() => apply(null)}>{t.neverExpires}</Button>
          <Button type="submit" variant="primary">
            {t.setExpiry}
          </Button>
        </div>
      </form>
    </Popover>
  );
}

/** Only with a domain to move to. */
function MoveAction({ onChange }: ActionProps) {
  const { slug } = useWorkspace();
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({ ...listQuery(slug, "GET /api/domains", { limit: 100 }), staleTime: 60_000 });
  const hosts = data?.items.filter(({ state }) => state === "verified").map(({ host }) => host) ?? [];
  const [chosen, setChosen] = useState("");
  if (hosts.length === 0) return null;
  const options = [{ value: "", label: location.host }, ...hosts.map((host) => ({ value: host, label: host }))];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setOpen(false);
    onChange({ edit: { action: "move", domain: chosen === "" ? null : chosen }, done: t.movedLinks });
  };
  return (
    <Popover
      label={t.move}
      side="top"
      className="w-72"
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button variant="quiet" icon={ArrowRightLeft}>
          {t.move}
        </Button>
      }
    >
      <form onSubmit={submit} className="grid gap-3">
        <Field label={t.moveTo} hint={t.moveHint}>
          <Select options={options} value={chosen} onValueChange={setChosen} />
        </Field>
        <Button type="submit" variant="primary" className="justify-self-end">
          {t.move}
        </Button>
      </form>
    </Popover>
  );
}
