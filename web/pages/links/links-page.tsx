import { Link as RouterLink, useNavigate, useSearch } from "@tanstack/react-router";
import LinkIcon from "lucide-react/icons/link";
import Pause from "lucide-react/icons/pause";
import SearchIcon from "lucide-react/icons/search";
import SearchX from "lucide-react/icons/search-x";
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Link } from "../../api/generated.ts";
import { formatNumber } from "../../format.ts";
import { messageOf, useSettled } from "../../forms.ts";
import { useShortcuts } from "../../keys.ts";
import { parseSearch } from "../../search.ts";
import { linksTexts as t } from "../../texts/links.ts";
import { Button, buttonClass, IconButton } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { SearchInput } from "../../ui/input.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { Empty, ErrorState, SkeletonRows } from "../../ui/states.tsx";
import { TableFoot } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { useColumns } from "./columns.ts";
import { FilterBar } from "./filter-bar.tsx";
import { nameOf } from "./link-cells.tsx";
import { LinkList } from "./link-list.tsx";
import {
  type AddressChange,
  bulkFilter,
  filterKey,
  hasFilters,
  type ListAddress,
  noFilters,
  noPlace,
  pageLinks,
  readAddress,
  type Sort,
} from "./list-address.ts";
import { ListMenus } from "./list-menus.tsx";
import { type Period, periodWords } from "./period.ts";
import { type BulkOrder, deletion, useBulk } from "./use-bulk.ts";
import { useCursors } from "./use-cursors.ts";
import { useIsPhone } from "./use-is-phone.ts";
import { useIsPaused, useLinks } from "./use-links.ts";
import { useSelection } from "./use-selection.ts";
import { type SavedView, useViews, viewQuery } from "./views.ts";

/** Loaded when they are first needed: the first page of links comes sooner. */
const BulkActions = lazy(() => import("./bulk-actions.tsx").then((module) => ({ default: module.BulkActions })));
const SaveView = lazy(() => import("./save-view.tsx").then((module) => ({ default: module.SaveView })));
const exporting = () => import("./export-links.ts");

export function LinksPage() {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const { slug, can } = useWorkspace();
  const canWrite = can("links:write");
  const toast = useToast();
  const address = useMemo(() => readAddress(search), [search]);
  const { page, counts, trends } = useLinks(address);
  const links = page.data?.items ?? none;
  const total = counts.data?.[address.state ?? "all"];
  const selection = useSelection(filterKey(address), total ?? links.length);
  const columns = useColumns();
  const { views, save, remove: removeView, restore } = useViews(slug);
  const [isSaving, setSaving] = useState(false);
  const [isSearching, setSearching] = useState(false);
  const bulk = useBulk();
  const isPhone = useIsPhone();
  const searchField = useRef<HTMLInputElement>(null);

  const go = useCallback(
    (change: AddressChange, replace = false) =>
      void navigate({ to: ".", search: (before: object) => ({ ...before, ...noPlace, ...change }), replace }),
    [navigate],
  );
  const cursors = useCursors(filterKey(address), address, page.data?.nextCursor ?? null, (place) => go(place));
  const [typed, setTyped] = useTypedSearch(address.q, (q) => go({ q }, true));

  const onCopied = useCallback((link: Link) => toast({ message: t.copied(nameOf(link)), key: "copied" }), [toast]);
  const change = (order: Omit<BulkOrder, "target">) => {
    const target = selection.isAll
      ? { filter: bulkFilter(address), total: selection.size }
      : { ids: selection.links.map(({ id }) => id) };
    selection.clear();
    void bulk({ ...order, target });
  };
  const exportLinks = useExport();
  const clear = () => {
    setTyped("");
    go(noFilters);
  };
  const focusSearch = () => searchField.current?.focus();
  const removeLinks = (some: readonly Link[]) => {
    selection.clear();
    void bulk({ ...deletion, target: { ids: some.map(({ id }) => id) } });
  };

  const onSort = useCallback(
    (sort: Sort) => {
      const isSame = address.sort === sort;
      const first = sort === "code" || sort === "expiresAt" ? "asc" : "desc";
      go({ sort, order: isSame ? (address.order === "asc" ? "desc" : "asc") : first });
    },
    [address, go],
  );
  const onPeriod = (period: Period) => {
    // Only the clicks of a month and of all time are sorted by the server.
    const sort = address.sort === "clicks" && period !== "month" && period !== "all";
    const place = address.sort === "clicks" ? {} : { cursor: search.cursor, page: search.page };
    go({ period, ...place, ...(sort && { sort: "lastClickAt", order: "desc" }) });
  };
  const query = viewQuery(search);
  const openView = (view: SavedView) => void navigate({ to: ".", search: parseSearch(view.query) as never });
  const first = (address.page - 1) * pageLinks + 1;
  const isEmpty = page.data !== undefined && links.length === 0;
  const isBare = isEmpty && !hasFilters(address) && address.cursor === undefined;

  const searchInput = (
    <SearchInput
      ref={searchField}
      label={t.search}
      clearLabel={t.clearSearch}
      value={typed}
      onValueChange={setTyped}
      kbd="/"
      maxLength={100}
      className="w-56 max-sm:mb-3 max-sm:w-full"
      onKeyDown={(event) => {
        if (event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );

  return (
    <div className={selection.size > 0 ? "pb-20" : ""}>
      <PageHeader
        title={t.title}
        remark={
          <>
            <span className="sm:hidden">{t.clicksPeriod(periodWords[address.period])}</span>
            <PausedMark />
          </>
        }
        actions={
          <div className="flex items-center gap-2 max-sm:-mr-3 max-sm:gap-0">
            {!isBare && !isPhone && searchInput}
            {!isBare && isPhone && (
              <IconButton
                icon={SearchIcon}
                label={t.search}
                aria-expanded={isSearching}
                onClick={() => setSearching(!isSearching)}
              />
            )}
            <ListMenus
              address={address}
              columns={columns}
              views={views}
              canSave={query !== "" && views.every((view) => view.query !== query)}
              onChange={go}
              onPeriod={onPeriod}
              onSaveView={() => setSaving(true)}
              onRemoveView={(view) => {
                removeView(view.name);
                const action = { label: t.undo, onAction: () => restore(views) };
                toast({ message: t.removedView(view.name), action });
              }}
              onExport={() => void exportLinks(address)}
            />
          </div>
        }
      />
      {!isBare && isPhone && (isSearching || typed !== "") && searchInput}
      {!isBare && (
        <FilterBar address={address} counts={counts.data} views={views} query={query} onView={openView} onChange={go} />
      )}
      {page.isPending ? (
        <SkeletonRows rows={14} label={t.loading} />
      ) : page.isError ? (
        <ErrorState
          message={`${t.loadFailed} ${messageOf(page.error)}`}
          retryLabel={t.tryAgain}
          retrying={page.isFetching}
          onRetry={() => void page.refetch()}
        />
      ) : isEmpty ? (
        <EmptyList isBare={isBare} slug={slug} canWrite={canWrite} onClear={clear} onSearch={focusSearch} />
      ) : (
        <>
          <LinkList
            links={links}
            trends={trends}
            shown={columns.shown}
            address={address}
            selection={selection}
            onSort={onSort}
            onCopied={onCopied}
            onRemove={removeLinks}
            onSearch={focusSearch}
            onClear={clear}
          />
          <TableFoot summary={summaryOf(first, first + links.length - 1, total, counts.data?.isPartial)}>
            <Button size="sm" disabled={!cursors.hasPrevious} onClick={cursors.previous}>
              {t.previous}
            </Button>
            <Button size="sm" disabled={!cursors.hasNext} onClick={cursors.next}>
              {t.next}
            </Button>
          </TableFoot>
        </>
      )}
      <Suspense>
        {selection.size > 0 && (
          <BulkActions
            selection={selection}
            matching={
              total !== undefined && total > selection.size && selection.size >= links.length ? total : undefined
            }
            onChange={change}
            onExport={() => void exportLinks(selection.isAll ? address : selection.links)}
          />
        )}
        {isSaving && (
          <SaveView
            onClose={() => setSaving(false)}
            onSave={(name) => {
              save({ name, query });
              setSaving(false);
              toast({ message: t.savedView(name) });
            }}
          />
        )}
      </Suspense>
    </div>
  );
}

const none: readonly Link[] = [];

function summaryOf(from: number, to: number, total: number | undefined, isPartial: boolean | undefined): string {
  if (total === undefined) return t.rangeOnly(formatNumber(from), formatNumber(to));
  const known = formatNumber(Math.max(total, to));
  return t.range(formatNumber(from), formatNumber(to), isPartial ? t.moreThan(known) : known);
}

const typingMs = 250;

/** What is typed goes into the address when it has not changed for a moment. */
function useTypedSearch(q: string | undefined, onSettled: (q: string | undefined) => void) {
  const [typed, setTyped] = useState(q ?? "");
  const settled = useSettled(typed.trim(), typingMs);
  const latest = useRef({ q, onSettled, sent: q ?? "" });
  latest.current = { ...latest.current, q, onSettled };
  useEffect(() => {
    const { q: before, onSettled: tell } = latest.current;
    if (settled === (before ?? "")) return;
    latest.current.sent = settled;
    tell(settled === "" ? undefined : settled);
  }, [settled]);
  // Back, a view, or another link changed the address.
  useEffect(() => {
    if ((q ?? "") !== latest.current.sent) {
      latest.current.sent = q ?? "";
      setTyped(q ?? "");
    }
  }, [q]);
  return [typed, setTyped] as const;
}

/** Of a selection, or of everything that matches. */
function useExport() {
  const toast = useToast();
  return async (what: ListAddress | readonly Link[]) => {
    const key = "export";
    try {
      const { saveLinks, saveMatching } = await exporting();
      if (!("sort" in what)) return saveLinks(what);
      toast({ message: t.exporting, key });
      await saveMatching(what);
      toast({ message: t.exported, key });
    } catch (error) {
      toast({ message: messageOf(error), tone: "bad", key });
    }
  };
}

/** Numbers that do not move look like numbers that do; so it says when they do not. */
function PausedMark() {
  if (!useIsPaused()) return null;
  return (
    <span role="status" className="inline-flex items-center gap-1 text-warn">
      <Pause className="size-3" />
      {t.livePaused}
    </span>
  );
}

interface EmptyListProps {
  readonly isBare: boolean;
  readonly slug: string;
  readonly canWrite: boolean;
  readonly onClear: () => void;
  readonly onSearch: () => void;
}

function EmptyList({ isBare, slug, canWrite, onClear, onSearch }: EmptyListProps) {
  useShortcuts(
    isBare
      ? []
      : [
          { keys: "/", run: onSearch },
          { keys: "escape", run: onClear },
        ],
  );
  if (!isBare) {
    return (
      <Card>
        <Empty icon={SearchX} action={<Button onClick={onClear}>{t.clearFilters}</Button>}>
          {t.nothingMatches}
        </Empty>
      </Card>
    );
  }
  return (
    <Card>
      <Empty
        icon={LinkIcon}
        action={
          canWrite && (
            <RouterLink
              to="/w/$workspace/start"
              params={{ workspace: slug }}
              search={{}}
              className={buttonClass({ variant: "primary" })}
            >
              {t.emptyAction}
            </RouterLink>
          )
        }
      >
        {canWrite ? t.emptyTitle : t.emptyViewer}
      </Empty>
    </Card>
  );
}
