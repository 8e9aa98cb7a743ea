import { useNavigate } from "@tanstack/react-router";
import type { Link, LinkTrend } from "../../api/generated.ts";
import { useLinkDrawer } from "../../shell/link-drawer.ts";
import { linksTexts as t } from "../../texts/links.ts";
import { copyText } from "../../ui/copy-text.ts";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import type { ColumnName } from "./columns.ts";
import { LinksTable } from "./links-table.tsx";
import { hasFilters, type ListAddress, type Sort } from "./list-address.ts";
import { PhoneList } from "./phone-list.tsx";
import { useIsPhone } from "./use-is-phone.ts";
import { useListKeys } from "./use-list-keys.ts";
import { useNow } from "./use-now.ts";
import type { Selection } from "./use-selection.ts";

interface LinkListProps {
  readonly links: readonly Link[];
  readonly trends: ReadonlyMap<string, LinkTrend>;
  readonly shown: readonly ColumnName[];
  readonly address: ListAddress;
  readonly selection: Selection;
  readonly onSort: (sort: Sort) => void;
  readonly onCopied: (link: Link) => void;
  readonly onRemove: (links: readonly Link[]) => void;
  readonly onSearch: () => void;
  readonly onClear: () => void;
}

/** The rows and their keys. Moving the cursor draws two rows again, and nothing of the page around them. */
export function LinkList(props: LinkListProps) {
  const { links, trends, shown, address, selection, onSort, onCopied, onRemove, onSearch, onClear } = props;
  const { slug, can } = useWorkspace();
  const canWrite = can("links:write");
  const navigate = useNavigate();
  const drawer = useLinkDrawer();
  const toast = useToast();
  const isPhone = useIsPhone();
  const now = useNow();
  const copy = async (link: Link) => {
    if (await copyText(link.shortUrl)) onCopied(link);
    else toast({ message: t.copyFailed, tone: "bad" });
  };
  const { current, setCurrent } = useListKeys({
    links,
    selection,
    canWrite,
    open: ({ id }) => {
      void navigate({ to: "/w/$workspace/links/$link", params: { workspace: slug, link: id }, search: {} });
    },
    edit: ({ id }) => drawer.edit(id),
    qr: ({ id }) => drawer.edit(id, "qr"),
    copy: (link) => void copy(link),
    remove: onRemove,
    focusSearch: onSearch,
    clear: () => {
      if (hasFilters(address)) onClear();
    },
  });
  if (isPhone) {
    return (
      <PhoneList
        links={links}
        trends={trends}
        period={address.period}
        selection={selection}
        workspace={slug}
        canWrite={canWrite}
        now={now}
        onCopied={onCopied}
      />
    );
  }
  return (
    <LinksTable
      links={links}
      trends={trends}
      shown={shown}
      address={address}
      selection={selection}
      current={current}
      workspace={slug}
      canWrite={canWrite}
      now={now}
      onSort={onSort}
      onCurrent={setCurrent}
      onCopied={onCopied}
    />
  );
}
