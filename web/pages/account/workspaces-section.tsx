import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, call } from "../../api/call.ts";
import type { OwnWorkspace } from "../../api/generated.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { formatDate } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { oneOf } from "../../search.ts";
import { accountTexts, ownWorkspaceTexts as t } from "../../texts/account.ts";
import { WorkspaceMark } from "../../ui/avatar.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { Badge } from "../../ui/chip.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useAttempt } from "../../use-attempt.ts";
import { AccountList, AccountRow } from "./account-list.tsx";
import { type KeysChoice, KeysChoiceField } from "./keys-choice.tsx";
import { NewWorkspaceDialog } from "./new-workspace-dialog.tsx";

export function WorkspacesSection() {
  const query = useQuery(listQuery("", "GET /api/account/workspaces"));
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const [left, setLeft] = useState<OwnWorkspace>();
  const mayCreate = query.data?.mayCreate ?? false;
  const show = (next: string | undefined) =>
    void navigate({ to: "/account", search: next === undefined ? {} : { new: next }, hash: "workspaces" });

  return (
    <Section
      title={accountTexts.workspaces}
      description={t.text}
      actions={mayCreate && <Button onClick={() => show("workspace")}>{t.new}</Button>}
    >
      <AccountList label={accountTexts.workspaces} query={query} empty={mayCreate ? t.noneMayCreate : t.none}>
        {(workspace: OwnWorkspace) => (
          <AccountRow
            key={workspace.id}
            mark={<WorkspaceMark name={workspace.name} size="lg" />}
            title={workspace.name}
            badge={<State workspace={workspace} />}
            text={t.roles[workspace.role]}
            actions={<Actions workspace={workspace} onLeave={() => setLeft(workspace)} />}
          />
        )}
      </AccountList>
      {query.data && oneOf(search.new) === "workspace" && (
        <NewWorkspaceDialog mayCreate={mayCreate} onClose={() => show(undefined)} />
      )}
      {left && <LeaveDialog workspace={left} onClose={() => setLeft(undefined)} />}
    </Section>
  );
}

function State({ workspace: { suspended, deleteAt } }: { readonly workspace: OwnWorkspace }) {
  if (deleteAt !== null) return <Badge tone="warn">{t.deleted(formatDate(deleteAt))}</Badge>;
  return suspended ? <Badge tone="bad">{t.suspended}</Badge> : null;
}

interface ActionsProps {
  readonly workspace: OwnWorkspace;
  readonly onLeave: () => void;
}

function Actions({ workspace, onLeave }: ActionsProps) {
  const { name, slug, role, deleteAt, id } = workspace;
  const queries = useQueryClient();
  const toast = useToast();
  const attempt = useAttempt();
  const restore = () =>
    void attempt.run(async () => {
      try {
        await call("POST /api/account/workspaces/{workspace}/restore", { path: { workspace: id } });
        toast({ message: t.restored(name) });
      } catch (error) {
        toast({ message: messageOf(error), tone: "bad" });
      }
      await refresh(queries, "/api/account");
    });
  if (deleteAt !== null) {
    if (role !== "owner") return null;
    return (
      <Button size="sm" loading={attempt.isBusy} aria-label={t.restoreLabel(name)} onClick={restore}>
        {t.restore}
      </Button>
    );
  }
  return (
    <>
      <Button size="sm" variant="quiet" aria-label={t.leaveLabel(name)} onClick={onLeave}>
        {t.leave}
      </Button>
      <Link
        to="/w/$workspace"
        params={{ workspace: slug }}
        search={{}}
        aria-label={t.openLabel(name)}
        className={buttonClass({ size: "sm" })}
      >
        {t.open}
      </Link>
    </>
  );
}

interface LeaveDialogProps {
  readonly workspace: OwnWorkspace;
  readonly onClose: () => void;
}

function LeaveDialog({ workspace, onClose }: LeaveDialogProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const attempt = useAttempt();
  const [keys, setKeys] = useState<KeysChoice>();
  const leave = () =>
    void attempt.run(async () => {
      try {
        await call("DELETE /api/account/workspaces/{workspace}", {
          path: { workspace: workspace.id },
          query: { keys },
        });
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== "keys_undecided") throw error;
        return setKeys("keep");
      }
      toast({ message: t.left(workspace.name) });
      onClose();
      await refresh(queries, "/api/account");
    });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      onConfirm={leave}
      title={t.leaveTitle(workspace.name)}
      description={t.leaveText}
      confirmLabel={t.leave}
      cancelLabel={accountTexts.cancel}
      closeLabel={accountTexts.close}
      loading={attempt.isBusy}
      error={attempt.error === undefined ? undefined : messageOf(attempt.error)}
    >
      {keys !== undefined && <KeysChoiceField value={keys} onValueChange={setKeys} />}
    </ConfirmDialog>
  );
}
