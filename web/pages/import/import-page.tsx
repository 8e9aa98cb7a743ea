import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import FileUp from "lucide-react/icons/file-up";
import { useRef, useState } from "react";
import { call } from "../../api/call.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { formatRoundPercent } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { importTexts as t } from "../../texts/import.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { FieldError } from "../../ui/field.tsx";
import { Progress } from "../../ui/meter.tsx";
import { Page, PageHeader } from "../../ui/page.tsx";
import { Empty, ErrorState } from "../../ui/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { sendFile } from "../files/send-file.ts";
import { ImportCard } from "./import-card.tsx";

const activeMs = 1_000;

/** Upload, recognise, check without writing, then import with progress; the server goes on if the page is closed. */
export function ImportPage() {
  const { slug } = useWorkspace();
  const queries = useQueryClient();
  const picker = useRef<HTMLInputElement>(null);
  const [share, setShare] = useState(0);
  const imports = useQuery({
    ...listQuery(slug, "GET /api/imports", { limit: 20 }),
    refetchInterval: ({ state }) =>
      state.data?.items.some((one) => one.state === "checking" || one.state === "running") ? activeMs : false,
  });
  const upload = useMutation({
    async mutationFn(file: File) {
      setShare(0);
      const stored = await sendFile(file, setShare);
      return await call("POST /api/imports", { body: { file: stored.id } });
    },
    onSettled: () => refresh(queries, "/api/imports", "/api/files"),
  });
  const choose = (files: FileList | null) => {
    const file = files?.[0];
    if (file !== undefined && !upload.isPending) upload.mutate(file);
  };
  return (
    <Page>
      <div className="max-w-[820px]">
        <PageHeader title={t.title} description={t.description} />
        <Card
          drop
          className="mb-4"
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            choose(event.dataTransfer.files);
          }}
        >
          <Empty
            icon={FileUp}
            action={
              upload.isPending ? (
                <div className="w-full max-w-[320px]">
                  <Progress label={t.uploading(formatRoundPercent(share))} value={share} />
                  <p className="mt-1.5 text-12 text-text-3">{t.uploading(formatRoundPercent(share))}</p>
                </div>
              ) : (
                <Button onClick={() => picker.current?.click()}>{t.choose}</Button>
              )
            }
          >
            {t.drop} {t.formats}
          </Empty>
          {upload.error && (
            <div className="px-4 pb-4">
              <FieldError>{messageOf(upload.error)}</FieldError>
            </div>
          )}
          <input
            ref={picker}
            type="file"
            accept=".csv,.json,.jsonl,.txt,text/csv,application/json"
            aria-label={t.choose}
            className="sr-only"
            tabIndex={-1}
            onChange={(event) => {
              choose(event.target.files);
              event.target.value = "";
            }}
          />
        </Card>
        {imports.isError && imports.data === undefined ? (
          <ErrorState
            message={`${t.couldNotLoad} ${messageOf(imports.error)}`}
            retryLabel={commonTexts.tryAgain}
            retrying={imports.isFetching}
            onRetry={() => void imports.refetch()}
          />
        ) : (
          <ul aria-label={t.earlier} className="grid gap-4">
            {imports.data?.items.map((one) => (
              <li key={one.id}>
                <ImportCard run={one} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </Page>
  );
}
