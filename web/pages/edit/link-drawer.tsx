import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { linkQuery } from "../../api/queries.ts";
import { messageOf } from "../../forms.ts";
import { oneOf } from "../../search.ts";
import { useLinkDrawer } from "../../shell/link-drawer.ts";
import { editTexts as t } from "../../texts/edit.ts";
import { Drawer } from "../../ui/drawer.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { useTenant } from "./limit-fields.tsx";
import { knownLink } from "./link-cache.ts";
import { LinkEditor } from "./link-editor.tsx";
import { copyOf, emptyForm, formOf, shortly } from "./link-form.ts";

/** A new link, a copy of one, or an existing one, as the address says. */
export function LinkDrawer() {
  const { id, copyOf: source } = useLinkDrawer();
  if (id !== undefined) return <ExistingLink key={id} id={id} />;
  return source === undefined ? <NewLink /> : <CopiedLink key={source} id={source} />;
}

/** Until the server has said it: the default of most. */
const usualDays = 365;

function NewLink() {
  const { slug } = useWorkspace();
  const url = oneOf(useSearch({ strict: false }).url) ?? "";
  const { toFile } = useLinkDrawer();
  const { data } = useTenant();
  const days = data?.linkDays ?? usualDays;
  const start = toFile ?? url;
  return (
    <LinkEditor
      key={start}
      title={t.newLink}
      draftName={`link:${slug}:new${start === "" ? "" : `:${start}`}`}
      initial={toFile === undefined ? emptyForm(url, days) : { ...emptyForm("", days), kind: "file", file: toFile }}
      again={() => emptyForm("", days)}
      link={undefined}
    />
  );
}

function CopiedLink({ id }: { readonly id: string }) {
  const { slug } = useWorkspace();
  const { link, error, refetch, isFetching } = useLink(slug, id);
  if (link === undefined) {
    return (
      <Frame title={t.newLink}>
        <Waiting error={error} isFetching={isFetching} retry={() => void refetch()} />
      </Frame>
    );
  }
  return (
    <LinkEditor
      title={t.duplicateOf(shortly(link.shortUrl))}
      draftName={`link:${slug}:copy:${id}`}
      initial={copyOf(link)}
      again={() => copyOf(link)}
      notice={link.password ? t.noPassword : undefined}
      link={undefined}
    />
  );
}

function ExistingLink({ id }: { readonly id: string }) {
  const { slug, can } = useWorkspace();
  const { link, error, refetch, isFetching } = useLink(slug, id);
  if (link === undefined) {
    return (
      <Frame title={t.editLink("")}>
        <Waiting error={error} isFetching={isFetching} retry={() => void refetch()} />
      </Frame>
    );
  }
  return (
    <LinkEditor
      title={can("links:write") ? t.editLink(shortly(link.shortUrl)) : shortly(link.shortUrl)}
      draftName={`link:${slug}:${id}`}
      initial={formOf(link)}
      again={undefined}
      link={link}
    />
  );
}

function useLink(workspace: string, id: string) {
  const queries = useQueryClient();
  const { data, ...rest } = useQuery({
    ...linkQuery(workspace, id),
    placeholderData: () => knownLink(queries, workspace, id),
  });
  return { link: data, ...rest };
}

interface WaitingProps {
  readonly error: Error | null;
  readonly isFetching: boolean;
  readonly retry: () => void;
}

function Waiting({ error, isFetching, retry }: WaitingProps) {
  if (error === null) return <Loading label={t.loading} />;
  return <ErrorState message={messageOf(error)} retryLabel={t.tryAgain} retrying={isFetching} onRetry={retry} />;
}

function Frame({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const drawer = useLinkDrawer();
  return (
    <Drawer open onClose={drawer.close} title={title} closeLabel={t.close} size="wide">
      {children}
    </Drawer>
  );
}
