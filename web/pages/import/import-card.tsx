import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import X from "lucide-react/icons/x";
import { call } from "../../api/call.ts";
import type { LinkImport } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { formatBytes, formatDateTime, formatNumber, formatRelative } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { importTexts as t } from "../../texts/import.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Badge } from "../../ui/chip.tsx";
import { Details } from "../../ui/details.tsx";
import { Progress } from "../../ui/meter.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";

const tones = {
  checking: "quiet",
  checked: "ok",
  running: "quiet",
  done: "ok",
  cancelled: "warn",
  failed: "bad",
} as const;
const rowsShown = 100;

export function ImportCard({ run }: { readonly run: LinkImport }) {
  const queries = useQueryClient();
  const toast = useToast();
  const { id, name, state, check, done, problem } = run;
  const options = {
    onError: (error: unknown) => void toast({ message: messageOf(error), tone: "bad" as const }),
    onSettled: () => refresh(queries, "/api/imports", "/api/links"),
  };
  const change = useMutation({
    ...options,
    mutationFn: (next: "running" | "cancelled") =>
      call("PATCH /api/imports/{id}", { path: { id }, body: { state: next } }),
  });
  const remove = useMutation({ ...options, mutationFn: () => call("DELETE /api/imports/{id}", { path: { id } }) });
  const isActive = state === "checking" || state === "running";
  const counts = state === "checked" || state === "checking" ? check : done;
  const total = check?.rows ?? 0;
  return (
    <Card padded>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="min-w-0 truncate font-semibold" title={name}>
          {name}
        </h2>
        <Badge tone={tones[state]}>{t.states[state]}</Badge>
        <span className="text-12 text-text-3" title={formatDateTime(run.createdAt)}>
          {run.format && `${t.recognised(t.formatNames[run.format])} · `}
          {formatBytes(run.size)} · {formatRelative(run.createdAt)}
        </span>
        <span className="ml-auto flex items-center gap-1">
          {(state === "checked" || state === "failed" || state === "cancelled") && (check?.created ?? 0) > 0 && (
            <Button loading={change.isPending} onClick={() => change.mutate("running")}>
              {state === "checked" ? t.start : t.continue}
            </Button>
          )}
          {isActive && (
            <Button variant="quiet" loading={change.isPending} onClick={() => change.mutate("cancelled")}>
              {t.cancel}
            </Button>
          )}
          {!isActive && <IconButton icon={X} label={`${t.remove}: ${name}`} onClick={() => remove.mutate()} />}
        </span>
      </div>
      {isActive && (
        <div className="mt-3">
          <Progress
            label={t.progress(name)}
            value={state === "running" && total > 0 ? Math.min(1, done.rows / total) : undefined}
          />
        </div>
      )}
      {counts !== null && (
        <p className="num mt-2 flex flex-wrap gap-x-4 gap-y-1 text-text-2">
          <span>
            {state === "checked" || state === "checking"
              ? t.wouldCreate(counts.created, formatNumber(counts.created))
              : t.created(counts.created, formatNumber(counts.created))}
          </span>
          {counts.present > 0 && <span>{t.alreadyThere(formatNumber(counts.present))}</span>}
          {counts.rejected > 0 && (
            <span className="text-bad">{t.bad(counts.rejected, formatNumber(counts.rejected))}</span>
          )}
        </p>
      )}
      {state === "checked" && check?.created === 0 && <p className="mt-1 text-text-3">{t.nothingToDo}</p>}
      {problem && <p className="mt-2 text-bad">{problem}</p>}
      {counts !== null && counts.rejected > 0 && !isActive && (
        <BadRows id={id} phase={state === "checked" ? "check" : "import"} />
      )}
    </Card>
  );
}

function BadRows({ id, phase }: { readonly id: string; readonly phase: "check" | "import" }) {
  const { slug } = useWorkspace();
  const { data } = useQuery({
    queryKey: ["/api/imports", slug, id, "rows", phase],
    queryFn: ({ signal }) =>
      call("GET /api/imports/{id}/rows", { path: { id }, query: { limit: rowsShown, phase }, signal }),
  });
  if (!data || data.items.length === 0) return null;
  return (
    <div className="mt-3">
      <Details title={t.badRows}>
        <table className="w-full text-12">
          <thead className="text-text-3">
            <tr>
              <th className="w-16 py-1 pr-3 text-right font-medium">{t.line}</th>
              <th className="py-1 text-left font-medium">{t.problem}</th>
            </tr>
          </thead>
          <tbody>
            {data.items.map(({ line, problem }) => (
              <tr key={`${line} ${problem}`} className="align-top">
                <td className="num py-1 pr-3 text-right">{formatNumber(line)}</td>
                <td className="py-1">{problem}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Details>
    </div>
  );
}
