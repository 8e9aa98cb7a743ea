import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import Ellipsis from "lucide-react/icons/ellipsis";
import UserPlus from "lucide-react/icons/user-plus";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { Member } from "../../api/generated.ts";
import { accountQuery, listQuery, refresh } from "../../api/queries.ts";
import { formatDate } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { memberTexts as t } from "../../texts/members.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Status } from "../../ui/chip.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { Page, PageHeader } from "../../ui/page.tsx";
import { Select } from "../../ui/select.tsx";
import { ErrorState, SkeletonRows } from "../../ui/states.tsx";
import { Cell, HeadCell, PhoneLine, Row, Table, TableBody, TableHead } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { Invitations } from "./invitations.tsx";
import { InviteDialog } from "./invite-dialog.tsx";
import { RemoveMember } from "./remove-member.tsx";
import { grantable, type Role } from "./roles.ts";
import { TransferDialog } from "./transfer-dialog.tsx";

export function MembersPage() {
  const { slug, can } = useWorkspace();
  const [isInviting, setIsInviting] = useState(false);
  const members = useQuery(listQuery(slug, "GET /api/members", { limit: 100 }));
  const items = members.data?.items;
  return (
    <Page>
      <PageHeader
        title={t.title}
        description={t.description}
        actions={
          can("admin") && (
            <Button icon={UserPlus} onClick={() => setIsInviting(true)}>
              {t.invite}
            </Button>
          )
        }
      />
      {members.isError && items === undefined ? (
        <ErrorState
          message={`${t.couldNotLoad} ${messageOf(members.error)}`}
          retryLabel={commonTexts.tryAgain}
          retrying={members.isFetching}
          onRetry={() => void members.refetch()}
        />
      ) : items === undefined ? (
        <SkeletonRows rows={4} label={commonTexts.loading} />
      ) : (
        <Table label={t.title} minWidthPx={620} columns={[undefined, 136, { wide: 120 }, { wide: 110 }, 56]}>
          <TableHead>
            <HeadCell>{t.person}</HeadCell>
            <HeadCell>{t.role}</HeadCell>
            <HeadCell wide>{t.joined}</HeadCell>
            <HeadCell wide>{t.twoFactor}</HeadCell>
            <HeadCell>
              <span className="sr-only">{commonTexts.more}</span>
            </HeadCell>
          </TableHead>
          <TableBody>
            {items.map((member) => (
              <MemberRow key={member.id} member={member} />
            ))}
          </TableBody>
        </Table>
      )}
      {can("admin") && <Invitations />}
      {isInviting && <InviteDialog onClose={() => setIsInviting(false)} />}
    </Page>
  );
}

function MemberRow({ member }: { readonly member: Member }) {
  const { can, role: ownRole } = useWorkspace();
  const { data: account } = useQuery(accountQuery);
  const queries = useQueryClient();
  const toast = useToast();
  const [open, setOpen] = useState<"remove" | "transfer">();
  const { id, name, role } = member;
  const isMe = account?.person.id === id;
  const change = useMutation({
    mutationFn: (next: Role) => call("PATCH /api/members/{person}", { path: { person: id }, body: { role: next } }),
    onSuccess: (changed) => toast({ message: t.roleChanged(name, t.roles[changed.role]) }),
    onError: (error) => toast({ message: messageOf(error), tone: "bad" }),
    onSettled: () => refresh(queries, "/api/members", "/api/account"),
  });
  const choices = grantable(ownRole);
  const mayChange = can("admin") && choices.includes(role);
  return (
    <Row>
      <Cell title={member.email ?? name}>
        <span className="flex min-w-0 items-center gap-2.5">
          <Avatar name={name} />
          <span className="min-w-0 truncate">
            <span className="font-medium">{name}</span>
            {isMe && <span className="text-text-3"> ({t.you})</span>}
            {member.email && (
              <>
                <span className="ml-2 text-text-3 max-sm:hidden">{member.email}</span>
                <PhoneLine>{member.email}</PhoneLine>
              </>
            )}
          </span>
          {member.disabled && <Status tone="bad">{t.disabled}</Status>}
        </span>
      </Cell>
      <Cell>
        {mayChange ? (
          <Select
            look="sm"
            aria-label={t.roleOf(name)}
            value={change.isPending ? change.variables : role}
            disabled={change.isPending}
            onValueChange={(next) => change.mutate(next as Role)}
            options={choices.map((value) => ({ value, label: t.roles[value] }))}
          />
        ) : (
          t.roles[role]
        )}
      </Cell>
      <Cell muted wide>
        {formatDate(member.joinedAt)}
      </Cell>
      <Cell wide>
        <Status tone={member.secondFactor ? "ok" : "quiet"}>
          {member.secondFactor ? t.twoFactorOn : t.twoFactorOff}
        </Status>
      </Cell>
      <Cell align="end">
        {(mayChange || isMe) && (
          <Menu trigger={<IconButton icon={Ellipsis} label={t.actionsFor(name)} />}>
            {ownRole === "owner" && !isMe && role !== "owner" && (
              <MenuItem onSelect={() => setOpen("transfer")}>{t.transfer}</MenuItem>
            )}
            <MenuItem danger onSelect={() => setOpen("remove")}>
              {isMe ? t.leave : t.remove}
            </MenuItem>
          </Menu>
        )}
        {open === "remove" && <RemoveMember member={member} isMe={isMe} onClose={() => setOpen(undefined)} />}
        {open === "transfer" && <TransferDialog member={member} onClose={() => setOpen(undefined)} />}
      </Cell>
    </Row>
  );
}
