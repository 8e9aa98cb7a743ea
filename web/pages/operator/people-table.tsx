import { keepPreviousData, useQuery } from "@tanstack/react-query";
import Ellipsis from "lucide-react/icons/ellipsis";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { PersonAccount } from "../../api/generated.ts";
import { accountQuery, listQuery } from "../../api/queries.ts";
import { formatDate } from "../../format.ts";
import { useSettled } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { operatorTexts as t } from "../../texts/operator.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Badge, Status } from "../../ui/chip.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { SearchInput } from "../../ui/input.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { Empty } from "../../ui/states.tsx";
import { Cell, HeadCell, PhoneLine, Row, Table, TableBody, TableHead } from "../../ui/table.tsx";
import { Loaded } from "./loaded.tsx";
import { useChange } from "./use-change.ts";

const shownMost = 100;

export function PeopleTable() {
  const [text, setText] = useState("");
  const search = useSettled(text.trim());
  const people = useQuery({
    ...listQuery("", "GET /api/operator/people", { limit: shownMost, ...(search !== "" && { search }) }),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="w-full max-w-[360px]">
          <SearchInput label={t.search} clearLabel={t.clearSearch} value={text} onValueChange={setText} />
        </div>
        <p className="text-12 text-text-3">{t.commands}</p>
      </div>
      <Loaded query={people}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>{t.nothing}</Empty>
          ) : (
            <Table
              label={t.sections.people}
              minWidthPx={640}
              columns={[undefined, { wide: 120 }, { wide: 200 }, { wide: 110 }, 56]}
            >
              <TableHead>
                <HeadCell>{t.name}</HeadCell>
                <HeadCell wide>{t.created}</HeadCell>
                <HeadCell wide>{t.state}</HeadCell>
                <HeadCell wide>{t.twoFactor}</HeadCell>
                <HeadCell>
                  <span className="sr-only">{commonTexts.more}</span>
                </HeadCell>
              </TableHead>
              <TableBody>
                {items.map((person) => (
                  <PersonRow key={person.id} person={person} />
                ))}
              </TableBody>
            </Table>
          )
        }
      </Loaded>
    </>
  );
}

function PersonRow({ person }: { readonly person: PersonAccount }) {
  const { id, name, email, operator, disabledAt } = person;
  const { data: account } = useQuery(accountQuery);
  const [isDisabling, setIsDisabling] = useState(false);
  const change = useChange(
    (body: { disabled?: boolean; operator?: boolean }) =>
      call("PATCH /api/operator/people/{person}", { path: { person: id }, body }),
    { onDone: () => setIsDisabling(false) },
  );
  const isPlain = disabledAt === null && person.emailVerified;
  const state =
    disabledAt !== null ? (
      <Status tone="bad">{t.disabled}</Status>
    ) : person.emailVerified ? (
      <Status tone="ok">{t.active}</Status>
    ) : (
      <Status tone="quiet">{t.unverified}</Status>
    );
  return (
    <Row>
      <Cell title={`${name} ${email}`}>
        <span className="flex min-w-0 items-center gap-2.5">
          <Avatar name={name} />
          <span className="truncate">
            <span className="font-medium">{name}</span> <span className="text-text-3 max-sm:hidden">{email}</span>
            <PhoneLine>{email}</PhoneLine>
            {!isPlain && <PhoneLine>{state}</PhoneLine>}
          </span>
          {operator && <Badge tone="quiet">{t.operatorBadge}</Badge>}
        </span>
      </Cell>
      <Cell muted wide>
        {formatDate(person.createdAt)}
      </Cell>
      <Cell wide>{state}</Cell>
      <Cell muted wide>
        {person.hasSecondFactor ? commonTexts.yes : commonTexts.no}
      </Cell>
      <Cell align="end">
        {account?.person.id !== id && (
          <Menu trigger={<IconButton icon={Ellipsis} label={t.actionsFor(name)} />}>
            <MenuItem onSelect={() => change.mutate({ operator: !operator })}>
              {operator ? t.unmakeOperator : t.makeOperator}
            </MenuItem>
            {disabledAt === null ? (
              <MenuItem danger onSelect={() => setIsDisabling(true)}>
                {t.disable}
              </MenuItem>
            ) : (
              <MenuItem onSelect={() => change.mutate({ disabled: false })}>{t.enable}</MenuItem>
            )}
          </Menu>
        )}
        <ConfirmDialog
          open={isDisabling}
          onClose={() => setIsDisabling(false)}
          onConfirm={() => change.mutate({ disabled: true })}
          title={t.disableTitle(name)}
          description={t.disableText}
          confirmLabel={t.disable}
          cancelLabel={commonTexts.cancel}
          closeLabel={commonTexts.close}
          loading={change.isPending}
        />
      </Cell>
    </Row>
  );
}
