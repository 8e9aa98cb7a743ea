import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import Ellipsis from "lucide-react/icons/ellipsis";
import Globe from "lucide-react/icons/globe";
import Plus from "lucide-react/icons/plus";
import { useRef, useState } from "react";
import { call } from "../../api/call.ts";
import type { Domain } from "../../api/generated.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { formatDate } from "../../format.ts";
import { fieldErrorsOf, focusFirstError, messageOf, useEdits, useIntentKey } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { domainTexts as t } from "../../texts/domains.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Badge, Status } from "../../ui/chip.tsx";
import { ConfirmDialog, Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { Page, PageHeader } from "../../ui/page.tsx";
import { Empty, ErrorState, SkeletonRows } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { DomainSteps } from "./domain-steps.tsx";
import { DomainTargets } from "./domain-targets.tsx";

export function DomainsPage() {
  const { slug, can } = useWorkspace();
  const [isAdding, setIsAdding] = useState(false);
  const domains = useQuery(listQuery(slug, "GET /api/domains", { limit: 100 }));
  const add = can("admin") && (
    <Button icon={Plus} onClick={() => setIsAdding(true)}>
      {t.add}
    </Button>
  );
  return (
    <Page>
      <PageHeader title={t.title} description={t.description} actions={domains.data?.items.length !== 0 && add} />
      {domains.isError && !domains.data ? (
        <ErrorState
          message={`${t.couldNotLoad} ${messageOf(domains.error)}`}
          retryLabel={commonTexts.tryAgain}
          retrying={domains.isFetching}
          onRetry={() => void domains.refetch()}
        />
      ) : domains.data === undefined ? (
        <SkeletonRows rows={3} label={commonTexts.loading} />
      ) : domains.data.items.length === 0 ? (
        <Card>
          <Empty icon={Globe} action={add}>
            {t.none}
          </Empty>
        </Card>
      ) : (
        <ul className="grid gap-4">
          {domains.data.items.map((domain) => (
            <li key={domain.host}>
              <DomainCard domain={domain} />
            </li>
          ))}
        </ul>
      )}
      {isAdding && <AddDomain onClose={() => setIsAdding(false)} />}
    </Page>
  );
}

function DomainCard({ domain }: { readonly domain: Domain }) {
  const { can } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const [isRemoving, setIsRemoving] = useState(false);
  const { host } = domain;
  const failed = (error: unknown) => toast({ message: messageOf(error), tone: "bad" });
  const done = (message: string) => {
    toast({ message });
    return refresh(queries, "/api/domains");
  };
  const makeDefault = useMutation({
    mutationFn: () => call("PATCH /api/domains/{host}", { path: { host }, body: { isDefault: true } }),
    onSuccess: () => done(t.makeDefaultDone(host)),
    onError: failed,
  });
  const remove = useMutation({
    mutationFn: () => call("DELETE /api/domains/{host}", { path: { host } }),
    onSuccess: () => done(t.removed(host)),
    onError: failed,
    onSettled: () => setIsRemoving(false),
  });
  const isVerified = domain.state === "verified";
  return (
    <Card padded>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="min-w-0 truncate text-14 font-semibold">{host}</h2>
        {isVerified ? (
          <Status tone="ok">
            {t.verified} {domain.verifiedAt && t.since(formatDate(domain.verifiedAt))}
          </Status>
        ) : (
          <Status tone="warn">{t.pending}</Status>
        )}
        {domain.isDefault && <Badge tone="quiet">{t.isDefault}</Badge>}
        {can("admin") && (
          <span className="ml-auto flex items-center gap-1">
            {isVerified && !domain.isDefault && (
              <Button size="sm" loading={makeDefault.isPending} onClick={() => makeDefault.mutate()}>
                {t.makeDefault}
              </Button>
            )}
            <Menu trigger={<IconButton icon={Ellipsis} label={t.actionsFor(host)} />}>
              <MenuItem danger onSelect={() => setIsRemoving(true)}>
                {t.remove}
              </MenuItem>
            </Menu>
          </span>
        )}
      </div>
      {domain.proof !== null && <DomainSteps host={host} proof={domain.proof} />}
      {isVerified && <DomainTargets domain={domain} />}
      <ConfirmDialog
        open={isRemoving}
        onClose={() => setIsRemoving(false)}
        onConfirm={() => remove.mutate()}
        title={t.removeTitle(host)}
        description={t.removeText}
        confirmLabel={t.remove}
        cancelLabel={commonTexts.cancel}
        closeLabel={commonTexts.close}
        loading={remove.isPending}
      />
    </Card>
  );
}

function AddDomain({ onClose }: { readonly onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const form = useRef<HTMLFormElement>(null);
  const { slug } = useWorkspace();
  const edits = useEdits(`domain:${slug}`, { host: "" });
  const { host } = edits.values;
  const intent = useIntentKey(host);
  const add = useMutation({
    mutationFn: () => call("POST /api/domains", { body: { host: host.trim() }, idempotencyKey: intent.key() }),
    async onSuccess(added) {
      intent.done();
      edits.discard();
      toast({ message: t.added(added.host) });
      onClose();
      await refresh(queries, "/api/domains");
    },
    onError: () => focusFirstError(form.current),
  });
  const error = add.error && (fieldErrorsOf(add.error).host ?? messageOf(add.error));
  return (
    <Dialog
      open
      onClose={onClose}
      title={t.add}
      closeLabel={commonTexts.close}
      footer={
        <>
          <Button
            onClick={() => {
              edits.discard();
              onClose();
            }}
          >
            {commonTexts.cancel}
          </Button>
          <Button variant="primary" loading={add.isPending} onClick={() => form.current?.requestSubmit()}>
            {t.add}
          </Button>
        </>
      }
    >
      <form
        ref={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!add.isPending) add.mutate();
        }}
      >
        <Field label={t.host} hint={t.hostHint} error={error}>
          <Input
            value={host}
            onChange={(event) => {
              edits.set({ host: event.target.value });
              add.reset();
            }}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder="go.example.com"
          />
        </Field>
      </form>
    </Dialog>
  );
}
