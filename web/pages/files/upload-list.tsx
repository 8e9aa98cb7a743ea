import RotateCw from "lucide-react/icons/rotate-cw";
import X from "lucide-react/icons/x";
import { useEffect } from "react";
import { formatBytes, formatRoundPercent } from "../../format.ts";
import { fileTexts as t } from "../../texts/files.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Card, CardTitle } from "../../ui/card.tsx";
import { Progress } from "../../ui/meter.tsx";
import { type RunningUpload, removeUpload, retryUpload, type UploadState, useUploads } from "./uploads.ts";

/** What this tab uploads, with progress. Leaving the page is questioned by the browser while something is under way. */
export function UploadList() {
  const uploads = useUploads();
  const running = uploads.filter(({ state }) => state.kind !== "done" && state.kind !== "failed").length;
  useEffect(() => {
    if (running === 0) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [running]);
  if (uploads.length === 0) return null;
  return (
    <Card className="mb-4">
      <CardTitle>{t.uploads}</CardTitle>
      <ul>
        {uploads.map((upload) => (
          <UploadLine key={upload.id} upload={upload} />
        ))}
      </ul>
      <p role="status" className="sr-only">
        {running > 0 ? t.inProgress(running) : t.done}
      </p>
    </Card>
  );
}

function UploadLine({ upload: { id, name, size, state } }: { readonly upload: RunningUpload }) {
  const isOver = state.kind === "done" || state.kind === "failed";
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 gap-y-1 border-t border-line px-3.5 py-2">
      <span className="flex min-w-0 items-baseline gap-2">
        <span className="truncate font-medium" title={name}>
          {name}
        </span>
        <span className="num flex-none text-12 text-text-3">{formatBytes(size)}</span>
      </span>
      <span className="flex items-center gap-1">
        <span className={`num text-12 ${state.kind === "failed" ? "text-bad" : "text-text-2"}`}>{textOf(state)}</span>
        {state.kind === "failed" && (
          <Button size="sm" icon={RotateCw} onClick={() => retryUpload(id)}>
            {t.retry}
          </Button>
        )}
        <IconButton
          icon={X}
          size="sm"
          label={`${isOver ? t.dismiss : t.cancel}: ${name}`}
          onClick={() => removeUpload(id)}
        />
      </span>
      {!isOver && (
        <span className="col-span-2">
          <Progress label={name} value={state.kind === "sending" ? state.share : state.kind === "checking" ? 1 : 0} />
        </span>
      )}
    </li>
  );
}

function textOf(state: UploadState): string {
  switch (state.kind) {
    case "waiting":
      return t.waiting;
    case "sending":
      return t.sending(formatRoundPercent(state.share));
    case "checking":
      return t.checking;
    case "done":
      return t.done;
    case "retrying":
      return t.retrying(Math.max(1, Math.round((state.atMs - Date.now()) / 1_000)));
    case "failed":
      return state.message;
  }
}
