import { useMutation, useQueryClient } from "@tanstack/react-query";
import Download from "lucide-react/icons/download";
import Ellipsis from "lucide-react/icons/ellipsis";
import FileIcon from "lucide-react/icons/file";
import Link2 from "lucide-react/icons/link";
import Trash2 from "lucide-react/icons/trash-2";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { File as StoredFile } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { formatBytes, formatDateTime, formatRelative } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { useLinkDrawer } from "../../shell/link-drawer.ts";
import { commonTexts } from "../../texts/common.ts";
import { fileTexts as t } from "../../texts/files.ts";
import { LetterTile } from "../../ui/avatar.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Status } from "../../ui/chip.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Menu, MenuItem, MenuSeparator } from "../../ui/menu.tsx";
import { Cell, HeadCell, PhoneLine, Row, Table, TableBody, TableFoot, TableHead } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";

interface FileTableProps {
  readonly files: readonly StoredFile[];
  readonly onPrevious?: () => void;
  readonly onNext?: () => void;
}

export function FileTable({ files, onPrevious, onNext }: FileTableProps) {
  return (
    <>
      <Table
        label={t.title}
        minWidthPx={640}
        columns={[undefined, { wide: 100 }, { wide: 190 }, { wide: 120 }, { wide: 130 }, 56]}
      >
        <TableHead>
          <HeadCell>{t.name}</HeadCell>
          <HeadCell wide align="end">
            {t.size}
          </HeadCell>
          <HeadCell wide>{t.type}</HeadCell>
          <HeadCell wide align="end">
            {t.uploaded}
          </HeadCell>
          <HeadCell wide>{t.state}</HeadCell>
          <HeadCell>
            <span className="sr-only">{commonTexts.more}</span>
          </HeadCell>
        </TableHead>
        <TableBody>
          {files.map((file) => (
            <FileRow key={file.id} file={file} />
          ))}
        </TableBody>
      </Table>
      {(onPrevious || onNext) && (
        <TableFoot summary="">
          <Button disabled={!onPrevious} onClick={onPrevious}>
            {commonTexts.previous}
          </Button>
          <Button disabled={!onNext} onClick={onNext}>
            {commonTexts.next}
          </Button>
        </TableFoot>
      )}
    </>
  );
}

function FileRow({ file }: { readonly file: StoredFile }) {
  const { can } = useWorkspace();
  const queries = useQueryClient();
  const drawer = useLinkDrawer();
  const toast = useToast();
  const [isDeleting, setIsDeleting] = useState(false);
  const { id, name, state } = file;
  const remove = useMutation({
    mutationFn: () => call("DELETE /api/files/{id}", { path: { id } }),
    async onSuccess() {
      toast({ message: t.deleted(name) });
      setIsDeleting(false);
      await refresh(queries, "/api/files");
    },
  });
  const download = useMutation({
    mutationFn: () => call("GET /api/files/{id}/download", { path: { id } }),
    onSuccess: ({ url }) => location.assign(url),
    onError: (error) => toast({ message: messageOf(error), tone: "bad" }),
  });
  const isStored = state === "stored";
  return (
    <Row>
      <Cell title={name}>
        <span className="flex items-center gap-2.5">
          <LetterTile name={name} icon={FileIcon} />
          <span className="min-w-0 truncate">
            {name}
            <PhoneLine>
              {isStored
                ? `${formatBytes(file.size)} · ${formatRelative(file.storedAt ?? file.createdAt)}`
                : `${formatBytes(file.size)} · ${t.pending}`}
            </PhoneLine>
          </span>
        </span>
      </Cell>
      <Cell wide align="end">
        {formatBytes(file.size)}
      </Cell>
      <Cell wide muted title={file.type}>
        {file.type}
      </Cell>
      <Cell wide align="end" muted title={formatDateTime(file.storedAt ?? file.createdAt)}>
        {formatRelative(file.storedAt ?? file.createdAt)}
      </Cell>
      <Cell wide>
        <Status tone={isStored ? "ok" : "quiet"}>{isStored ? t.stored : t.pending}</Status>
      </Cell>
      <Cell align="end">
        <Menu trigger={<IconButton icon={Ellipsis} label={t.actionsFor(name)} />}>
          {isStored && can("links:write") && (
            <MenuItem icon={Link2} onSelect={() => drawer.createToFile(id)}>
              {t.createLink}
            </MenuItem>
          )}
          {isStored && (
            <MenuItem icon={Download} onSelect={() => download.mutate()}>
              {t.download}
            </MenuItem>
          )}
          {can("files:write") && (
            <>
              <MenuSeparator />
              <MenuItem icon={Trash2} danger onSelect={() => setIsDeleting(true)}>
                {t.delete}
              </MenuItem>
            </>
          )}
        </Menu>
        <ConfirmDialog
          open={isDeleting}
          onClose={() => setIsDeleting(false)}
          onConfirm={() => remove.mutate()}
          title={t.deleteTitle(name)}
          description={t.deleteText}
          confirmLabel={t.delete}
          cancelLabel={commonTexts.cancel}
          closeLabel={commonTexts.close}
          loading={remove.isPending}
          error={remove.error && messageOf(remove.error)}
        />
      </Cell>
    </Row>
  );
}
