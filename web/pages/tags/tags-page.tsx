import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link as RouterLink } from "@tanstack/react-router";
import Ellipsis from "lucide-react/icons/ellipsis";
import Pencil from "lucide-react/icons/pencil";
import TagIcon from "lucide-react/icons/tag";
import Trash2 from "lucide-react/icons/trash-2";
import { type FormEvent, useState } from "react";
import { call } from "../../api/call.ts";
import type { Tag } from "../../api/generated.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { formatNumber } from "../../format.ts";
import { fieldErrorsOf, messageOf, useEdits, useSettled } from "../../forms.ts";
import { linksTexts, tagsTexts as t } from "../../texts/links.ts";
import { Button, buttonClass, IconButton } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Tag as TagMark } from "../../ui/chip.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Input, SearchInput } from "../../ui/input.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { Empty, ErrorState, SkeletonRows } from "../../ui/states.tsx";
import { Cell, HeadCell, Row, Table, TableBody, TableHead } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { useUndo } from "../links/use-bulk.ts";

const pageRows = 100;

/** All tags of the workspace: how many links have them, another name, or none. */
export function TagsPage() {
  const { slug, can } = useWorkspace();
  const canWrite = can("links:write");
  const queries = useQueryClient();
  const toast = useToast();
  const takeBack = useUndo();
  const [typed, setTyped] = useState("");
  const [sort, setSort] = useState<"links" | "tag">("links");
  const [renamed, setRenamed] = useState<Tag>();
  const prefix = useSettled(typed.trim(), 200);
  const tags = useInfiniteQuery({
    queryKey: ["/api/tags", slug, "page", sort, prefix],
    queryFn: ({ pageParam, signal }) =>
      call("GET /api/tags", {
        query: { limit: pageRows, sort, ...(prefix !== "" && { prefix }), ...(pageParam && { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  const items = tags.data?.pages.flatMap((page) => page.items) ?? [];

  const remove = useMutation({
    mutationFn: ({ tag }: Tag) => call("DELETE /api/tags", { query: { tag } }),
    onSuccess: ({ changed, undo, isComplete }, { tag }) => {
      const action = { label: linksTexts.undo, onAction: () => void takeBack(undo) };
      const message = isComplete ? t.removed(tag, changed) : `${t.removed(tag, changed)} ${t.notComplete}`;
      toast({ message, ...(undo.length > 0 && { action }) });
    },
    onError: (error) => toast({ message: messageOf(error), tone: "bad" }),
    onSettled: () => refresh(queries, "/api/tags", "/api/links"),
  });

  return (
    <div className="max-w-[680px]">
      <PageHeader
        title={t.title}
        description={t.description}
        actions={
          (items.length > 0 || typed !== "") && (
            <SearchInput
              label={t.search}
              clearLabel={t.clearSearch}
              value={typed}
              onValueChange={setTyped}
              maxLength={50}
              className="w-56 max-sm:w-full"
            />
          )
        }
      />
      {tags.isPending ? (
        <SkeletonRows rows={8} label={t.loading} />
      ) : tags.isError ? (
        <ErrorState
          message={`${t.loadFailed} ${messageOf(tags.error)}`}
          retryLabel={linksTexts.tryAgain}
          onRetry={() => void tags.refetch()}
        />
      ) : items.length === 0 ? (
        <Card>
          <Empty
            icon={TagIcon}
            action={
              prefix === "" ? (
                <RouterLink to="/w/$workspace/links" params={{ workspace: slug }} search={{}} className={buttonClass()}>
                  {t.toLinks}
                </RouterLink>
              ) : (
                <Button onClick={() => setTyped("")}>{t.clearSearch}</Button>
              )
            }
          >
            {prefix === "" ? t.empty : t.nothing(prefix)}
          </Empty>
        </Card>
      ) : (
        <Table label={t.table} columns={[undefined, 110, 60]}>
          <TableHead>
            <HeadCell sort={sort === "tag" && "asc"} onSort={() => setSort("tag")}>
              {t.tag}
            </HeadCell>
            <HeadCell align="end" sort={sort === "links" && "desc"} onSort={() => setSort("links")}>
              {t.links}
            </HeadCell>
            <HeadCell>
              <span className="sr-only">{linksTexts.more}</span>
            </HeadCell>
          </TableHead>
          <TableBody>
            {items.map((one) => (
              <Row key={one.tag}>
                <Cell>
                  <RouterLink
                    to="/w/$workspace/links"
                    params={{ workspace: slug }}
                    search={{ tag: one.tag }}
                    aria-label={t.showLinks(one.tag)}
                    className="touch inline-flex max-w-full rounded-1 hover:underline"
                  >
                    <TagMark>{one.tag}</TagMark>
                  </RouterLink>
                </Cell>
                <Cell align="end">{formatNumber(one.links)}</Cell>
                <Cell className="overflow-visible">
                  {canWrite && (
                    <Menu trigger={<IconButton icon={Ellipsis} label={t.actions(one.tag)} size="sm" />}>
                      <MenuItem icon={Pencil} onSelect={() => setRenamed(one)}>
                        {t.rename}
                      </MenuItem>
                      <MenuItem icon={Trash2} danger onSelect={() => remove.mutate(one)}>
                        {t.remove}
                      </MenuItem>
                    </Menu>
                  )}
                </Cell>
              </Row>
            ))}
          </TableBody>
        </Table>
      )}
      {tags.hasNextPage && (
        <p className="pt-3 text-center">
          <Button loading={tags.isFetchingNextPage} onClick={() => void tags.fetchNextPage()}>
            {t.more}
          </Button>
        </p>
      )}
      {renamed && <RenameTag tag={renamed} onClose={() => setRenamed(undefined)} />}
    </div>
  );
}

function RenameTag({ tag: { tag }, onClose }: { readonly tag: Tag; readonly onClose: () => void }) {
  const { slug } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const takeBack = useUndo();
  const edits = useEdits(`tag:${slug}:${tag}`, { name: tag });
  const { name } = edits.values;
  const wanted = useSettled(name.trim(), 200);
  const { data } = useQuery({
    ...listQuery(slug, "GET /api/tags", { prefix: wanted, limit: 20 }),
    enabled: wanted !== "" && wanted !== tag,
  });
  const other = data?.items.find((one) => one.tag === name.trim() && one.tag !== tag);
  const rename = useMutation({
    mutationFn: () => call("PATCH /api/tags", { body: { tag, name: name.trim() } }),
    onSuccess: ({ changed, undo, isComplete }) => {
      const action = { label: linksTexts.undo, onAction: () => void takeBack(undo) };
      const message = t.renamed(changed, name.trim());
      edits.discard();
      toast({ message: isComplete ? message : `${message} ${t.notComplete}`, ...(undo.length > 0 && { action }) });
      onClose();
    },
    onSettled: () => refresh(queries, "/api/tags", "/api/links"),
  });
  const errors = fieldErrorsOf(rename.error);
  const error = rename.isError ? (errors.name ?? errors.tag ?? messageOf(rename.error)) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rename.mutate();
  };
  return (
    <Dialog open onClose={onClose} title={t.renameTitle(tag)} closeLabel={linksTexts.close}>
      <form onSubmit={submit} noValidate className="grid gap-4 pb-4">
        <Field label={t.newName} error={error} hint={other ? t.merges(other.tag, other.links) : t.renameHint}>
          <Input
            value={name}
            maxLength={50}
            autoComplete="off"
            onChange={(event) => {
              edits.set({ name: event.target.value });
              rename.reset();
            }}
          />
        </Field>
        <div className="flex justify-end gap-2">
          <Button
            onClick={() => {
              edits.discard();
              onClose();
            }}
          >
            {linksTexts.cancel}
          </Button>
          <Button type="submit" variant="primary" loading={rename.isPending}>
            {other ? t.mergeAction : t.renameAction}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
