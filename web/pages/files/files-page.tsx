import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import FileUp from "lucide-react/icons/file-up";
import { useEffect, useRef, useState } from "react";
import { listQuery, refresh } from "../../api/queries.ts";
import { formatBytes } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { fileTexts as t } from "../../texts/files.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Page, PageHeader } from "../../ui/page.tsx";
import { Empty, ErrorState, SkeletonRows } from "../../ui/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { FileTable } from "./file-table.tsx";
import { UploadList } from "./upload-list.tsx";
import { startUploads, whenStored } from "./uploads.ts";

const pageSize = 50;

export function FilesPage() {
  const { slug, can } = useWorkspace();
  const queries = useQueryClient();
  const picker = useRef<HTMLInputElement>(null);
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const [isOver, setIsOver] = useState(false);
  const cursor = cursors.at(-1);
  const files = useQuery({
    ...listQuery(slug, "GET /api/files", { limit: pageSize, ...(cursor !== undefined && { cursor }) }),
    placeholderData: keepPreviousData,
  });
  useEffect(() => whenStored(() => void refresh(queries, "/api/files")), [queries]);

  const mayUpload = can("files:write");
  const upload = mayUpload && (
    <Button icon={FileUp} onClick={() => picker.current?.click()}>
      {t.upload}
    </Button>
  );
  const items = files.data?.items;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one more way; the button does the same.
    <div
      className="min-h-[60dvh]"
      onDragOver={(event) => {
        if (!mayUpload || !event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setIsOver(false);
      }}
      onDrop={(event) => {
        if (!mayUpload) return;
        event.preventDefault();
        setIsOver(false);
        startUploads([...event.dataTransfer.files]);
      }}
    >
      <Page>
        <PageHeader title={t.title} description={t.description} actions={items?.length !== 0 && upload} />
        <Storage />
        <input
          ref={picker}
          type="file"
          multiple
          aria-label={t.upload}
          className="sr-only"
          tabIndex={-1}
          onChange={(event) => {
            startUploads([...(event.target.files ?? [])]);
            event.target.value = "";
          }}
        />
        {isOver && (
          <p className="mb-4 rounded-3 border-2 border-dashed border-accent bg-selected p-6 text-center font-medium text-accent-text">
            {t.dropHere}
          </p>
        )}
        <UploadList />
        {files.isError && items === undefined ? (
          <ErrorState
            message={`${t.couldNotLoad} ${messageOf(files.error)}`}
            retryLabel={commonTexts.tryAgain}
            retrying={files.isFetching}
            onRetry={() => void files.refetch()}
          />
        ) : items === undefined ? (
          <SkeletonRows rows={6} label={commonTexts.loading} />
        ) : items.length === 0 ? (
          <Card drop>
            <Empty icon={FileUp} action={upload}>
              {mayUpload ? t.none : t.noneToRead}
            </Empty>
          </Card>
        ) : (
          <FileTable
            files={items}
            {...(cursors.length > 0 && { onPrevious: () => setCursors(cursors.slice(0, -1)) })}
            {...(files.data?.nextCursor && {
              onNext: () => setCursors([...cursors, files.data.nextCursor ?? ""]),
            })}
          />
        )}
      </Page>
    </div>
  );
}

function Storage() {
  const { slug } = useWorkspace();
  const { data } = useQuery(listQuery(slug, "GET /api/usage"));
  const use = data?.limits.find(({ name }) => name === "storageBytes");
  if (use === undefined || use.used === null) return null;
  const used = formatBytes(use.used);
  const text = use.limit === null ? t.noLimit(used) : t.storageOf(used, formatBytes(use.limit));
  return (
    <div className="mb-4 grid max-w-[360px] gap-1.5 text-12">
      <p className="num flex justify-between text-text-2">
        <span>{t.storage}</span>
        <span>{text}</span>
      </p>
      {use.limit !== null && (
        <Meter
          label={t.storage}
          used={use.used}
          limit={use.limit}
          valueText={text}
          {...(use.held ? { forecast: use.used + use.held } : {})}
        />
      )}
    </div>
  );
}
