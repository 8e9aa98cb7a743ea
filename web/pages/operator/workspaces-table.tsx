import { keepPreviousData, useQuery } from "@tanstack/react-query";
import Ellipsis from "lucide-react/icons/ellipsis";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { OperatedWorkspace } from "../../api/generated.ts";
import { listQuery } from "../../api/queries.ts";
import { formatDate } from "../../format.ts";
import { useDraft, useSettled } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { operatorTexts as t } from "../../texts/operator.ts";
import { IconButton } from "../../ui/button.tsx";
import { Status } from "../../ui/chip.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Input, SearchInput } from "../../ui/input.tsx";
import { Menu, MenuItem, MenuSeparator } from "../../ui/menu.tsx";
import { Empty } from "../../ui/states.tsx";
import { Cell, HeadCell, PhoneLine, Row, Table, TableBody, TableHead } from "../../ui/table.tsx";
import { Loaded } from "./loaded.tsx";
import { useChange } from "./use-change.ts";
import { WorkspaceLimits } from "./workspace-limits.tsx";

const shownMost = 100;

export function WorkspacesTable() {
  const [text, setText] = useState("");
  const search = useSettled(text.trim());
  const workspaces = useQuery({
    ...listQuery("", "GET /api/operator/workspaces", { limit: shownMost, ...(search !== "" && { search }) }),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <div className="mb-4 max-w-[360px]">
        <SearchInput label={t.search} clearLabel={t.clearSearch} value={text} onValueChange={setText} />
      </div>
      <Loaded query={workspaces}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>{t.nothing}</Empty>
          ) : (
            <Table
              label={t.sections.workspaces}
              minWidthPx={640}
              columns={[undefined, { wide: 140 }, { wide: 120 }, { wide: 200 }, 56]}
            >
              <TableHead>
                <HeadCell>{t.name}</HeadCell>
                <HeadCell wide>{t.plan}</HeadCell>
                <HeadCell wide>{t.created}</HeadCell>
                <HeadCell wide>{t.state}</HeadCell>
                <HeadCell>
                  <span className="sr-only">{commonTexts.more}</span>
                </HeadCell>
              </TableHead>
              <TableBody>
                {items.map((workspace) => (
                  <WorkspaceRow key={workspace.id} workspace={workspace} />
                ))}
              </TableBody>
            </Table>
          )
        }
      </Loaded>
    </>
  );
}

function WorkspaceRow({ workspace }: { readonly workspace: OperatedWorkspace }) {
  const { id, name, slug, suspended, deleteAt } = workspace;
  const [open, setOpen] = useState<"limits" | "suspend" | "remove">();
  const [reason, setReason, forgetReason] = useDraft(`suspension:${id}`, "");
  const close = () => setOpen(undefined);
  const path = { workspace: id };
  const suspend = useChange(
    () => call("PUT /api/operator/workspaces/{workspace}/suspension", { path, body: { reason: reason.trim() } }),
    {
      onDone() {
        close();
        setReason("");
        forgetReason();
      },
    },
  );
  const resume = useChange(() => call("DELETE /api/operator/workspaces/{workspace}/suspension", { path }));
  const remove = useChange(() => call("DELETE /api/operator/workspaces/{workspace}", { path }), { onDone: close });
  const restore = useChange(() => call("POST /api/operator/workspaces/{workspace}/restore", { path }));
  const labels = { cancelLabel: commonTexts.cancel, closeLabel: commonTexts.close };
  const state = deleteAt ? (
    <Status tone="bad">{t.deletedOn(formatDate(deleteAt))}</Status>
  ) : suspended === null ? (
    <Status tone="ok">{t.active}</Status>
  ) : (
    <Status tone="warn">{t.suspended}</Status>
  );
  return (
    <Row>
      <Cell title={`${name} (${slug})`}>
        <span className="font-medium">{name}</span> <span className="text-text-3">{slug}</span>
        <PhoneLine>{state}</PhoneLine>
      </Cell>
      <Cell muted wide>
        {workspace.plan}
      </Cell>
      <Cell muted wide>
        {formatDate(workspace.createdAt)}
      </Cell>
      <Cell wide title={suspended ?? undefined}>
        {state}
      </Cell>
      <Cell align="end">
        <Menu trigger={<IconButton icon={Ellipsis} label={t.actionsFor(name)} />}>
          <MenuItem onSelect={() => setOpen("limits")}>{t.edit}</MenuItem>
          <MenuSeparator />
          {suspended === null ? (
            <MenuItem onSelect={() => setOpen("suspend")}>{t.suspend}</MenuItem>
          ) : (
            <MenuItem onSelect={() => resume.mutate()}>{t.resume}</MenuItem>
          )}
          {deleteAt === null ? (
            <MenuItem danger onSelect={() => setOpen("remove")}>
              {t.remove}
            </MenuItem>
          ) : (
            <MenuItem onSelect={() => restore.mutate()}>{t.restore}</MenuItem>
          )}
        </Menu>
        {open === "limits" && <WorkspaceLimits workspace={workspace} onClose={close} />}
        <ConfirmDialog
          {...labels}
          open={open === "suspend"}
          onClose={close}
          onConfirm={() => suspend.mutate()}
          title={t.suspendTitle(name)}
          description={t.suspendText}
          confirmLabel={t.suspend}
          loading={suspend.isPending}
        >
          <Field label={t.reason}>
            <Input value={reason} onChange={(event) => setReason(event.target.value)} />
          </Field>
        </ConfirmDialog>
        <ConfirmDialog
          {...labels}
          open={open === "remove" && !remove.isPending}
          onClose={close}
          onConfirm={() => remove.mutate()}
          title={t.removeTitle(name)}
          description={t.removeText}
          confirmLabel={t.remove}
          loading={remove.isPending}
          typeToConfirm={{ text: slug, label: t.typeSlug(slug), mismatch: t.mismatch }}
        />
      </Cell>
    </Row>
  );
}
