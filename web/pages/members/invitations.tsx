import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { Invitation } from "../../api/generated.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { formatDateTime, formatRelative } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { memberTexts as t } from "../../texts/members.ts";
import { Button } from "../../ui/button.tsx";
import { Card, CardTitle } from "../../ui/card.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { InvitationLink } from "./invite-dialog.tsx";

export function Invitations() {
  const { slug } = useWorkspace();
  const { data } = useQuery(listQuery(slug, "GET /api/invitations", { limit: 100 }));
  if (!data || data.items.length === 0) return null;
  return (
    <Card className="mt-4">
      <CardTitle>{t.invitations}</CardTitle>
      <ul>
        {data.items.map((invitation) => (
          <InvitationLine key={invitation.id} invitation={invitation} />
        ))}
      </ul>
    </Card>
  );
}

function InvitationLine({ invitation }: { readonly invitation: Invitation }) {
  const { id, email, role, inviter, expiresAt } = invitation;
  const queries = useQueryClient();
  const toast = useToast();
  const [url, setUrl] = useState<string>();
  const failed = (error: unknown) => toast({ message: messageOf(error), tone: "bad" });
  const resend = useMutation({
    mutationFn: () => call("POST /api/invitations/{id}/resend", { path: { id } }),
    async onSuccess(made) {
      if (made.url !== null) setUrl(made.url);
      else toast({ message: t.resent(made.email ?? "") });
      await refresh(queries, "/api/invitations");
    },
    onError: failed,
  });
  const revoke = useMutation({
    mutationFn: () => call("DELETE /api/invitations/{id}", { path: { id } }),
    async onSuccess() {
      toast({ message: t.revoked });
      await refresh(queries, "/api/invitations");
    },
    onError: failed,
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-line px-3.5 py-2">
      <span className="min-w-0 flex-1 basis-48 truncate font-medium" title={email ?? undefined}>
        {email ?? t.anyone}
      </span>
      <span className="text-text-2">{t.roles[role]}</span>
      <span className="text-12 text-text-3" title={formatDateTime(expiresAt)}>
        {t.expires(formatRelative(expiresAt))}
        {inviter && ` · ${t.invitedBy(inviter.name)}`}
      </span>
      <span className="flex gap-1">
        <Button size="sm" loading={resend.isPending} onClick={() => resend.mutate()}>
          {email === null ? t.newLink : t.resend}
        </Button>
        <Button size="sm" variant="danger" loading={revoke.isPending} onClick={() => revoke.mutate()}>
          {t.revoke}
        </Button>
      </span>
      {url && <InvitationLink url={url} onClose={() => setUrl(undefined)} />}
    </li>
  );
}
