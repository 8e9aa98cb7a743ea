import {
  columnVisibilityFeature,
  createColumnHelper,
  rowSelectionFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { memo, useMemo } from "react";
import type { Link, LinkTrend } from "../../api/generated.ts";
import { formatNumber } from "../../format.ts";
import { linksTexts as t } from "../../texts/links.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Skeleton } from "../../ui/states.tsx";
import {
  Cell,
  HeadCell,
  Row,
  revealInRowClass,
  SelectCell,
  SelectHeadCell,
  Table,
  TableBody,
  TableHead,
} from "../../ui/table.tsx";
import { Tooltip } from "../../ui/tooltip.tsx";
import { type ColumnName, columnLooks, columnNames } from "./columns.ts";
import { Ago, clicksOf, Day, destinationOf, LinkName, LinkTile, nameOf, Tags, Trend } from "./link-cells.tsx";
import { LinkStatus } from "./link-status.tsx";
import type { ListAddress, Sort } from "./list-address.ts";
import { type Period, periodWords } from "./period.ts";
import type { Selection } from "./use-selection.ts";

const features = tableFeatures({ columnVisibilityFeature, rowSelectionFeature });
const helper = createColumnHelper<typeof features, Link>();
const columns = helper.columns(
  columnNames.map((name) => helper.display({ id: name, header: columnLooks[name].label })),
);

interface LinksTableProps {
  readonly links: readonly Link[];
  readonly trends: ReadonlyMap<string, LinkTrend>;
  readonly shown: readonly ColumnName[];
  readonly address: ListAddress;
  readonly selection: Selection;
  readonly current: string | undefined;
  readonly workspace: string;
  readonly canWrite: boolean;
  readonly now: number;
  readonly onSort: (sort: Sort) => void;
  readonly onCurrent: (id: string) => void;
  readonly onCopied: (link: Link) => void;
}

const selectPx = 38;

export function LinksTable(props: LinksTableProps) {
  const { links, shown, address, selection, current, canWrite, onSort } = props;
  const { period } = address;
  const visibility = useMemo(
    () => Object.fromEntries(columnNames.map((name) => [name, shown.includes(name)])),
    [shown],
  );
  const rowSelection = useMemo(
    () => Object.fromEntries(links.filter(({ id }) => selection.has(id)).map(({ id }) => [id, true as const])),
    [links, selection],
  );
  const table = useTable({
    features,
    columns,
    data: links,
    getRowId: ({ id }) => id,
    state: { columnVisibility: visibility, rowSelection },
    onRowSelectionChange: () => {},
    onColumnVisibilityChange: () => {},
  });
  const rows = table.getRowModel().rows;
  const visible = table.getVisibleLeafColumns().map(({ id }) => id as ColumnName);
  const widths = visible.map((name) => columnLooks[name].width);
  const chosen = rows.filter((row) => row.getIsSelected()).length;
  return (
    <Table
      label={t.table}
      columns={canWrite ? [selectPx, ...widths] : widths}
      selecting={selection.size > 0}
      minWidthPx={visible.length > 7 ? 760 + 110 * (visible.length - 4) : 900}
    >
      <TableHead>
        {canWrite && (
          <SelectHeadCell
            label={t.selectPage}
            checked={chosen > 0 && chosen === rows.length}
            indeterminate={chosen > 0 && chosen < rows.length}
            onCheckedChange={(isOn) => selection.setMany(links, isOn)}
          />
        )}
        {visible.map((name) => (
          <Head key={name} name={name} address={address} period={period} onSort={onSort} />
        ))}
      </TableHead>
      <TableBody>
        {rows.map((row) => (
          <LinkRow
            key={row.id}
            {...props}
            link={row.original}
            trend={props.trends.get(row.id)}
            visible={visible.join(",")}
            isSelected={row.getIsSelected()}
            isCurrent={row.id === current}
            period={period}
          />
        ))}
      </TableBody>
    </Table>
  );
}

interface HeadProps {
  readonly name: ColumnName;
  readonly address: ListAddress;
  readonly period: Period;
  readonly onSort: (sort: Sort) => void;
}

function Head({ name, address, period, onSort }: HeadProps) {
  const { label, align, sort } = columnLooks[name];
  // The server counts the clicks of a month and of all time; of other periods it would read every link.
  const canSort = sort !== undefined && (sort !== "clicks" || period === "month" || period === "all");
  const text =
    name === "clicks" ? (
      <Tooltip text={canSort ? t.clicksIn(periodWords[period]) : t.sortNeedsPeriod}>
        <span tabIndex={canSort ? undefined : 0}>{label}</span>
      </Tooltip>
    ) : (
      label
    );
  return (
    <HeadCell
      align={align}
      sort={canSort ? address.sort === sort && address.order : undefined}
      onSort={canSort ? () => onSort(sort) : undefined}
    >
      {text}
    </HeadCell>
  );
}

interface LinkRowProps
  extends Pick<LinksTableProps, "workspace" | "canWrite" | "now" | "onCurrent" | "onCopied" | "selection"> {
  readonly link: Link;
  readonly trend: LinkTrend | undefined;
  /** Names of the columns, so that a row is drawn again only when it changes. */
  readonly visible: string;
  readonly isSelected: boolean;
  readonly isCurrent: boolean;
  readonly period: Period;
}

const LinkRow = memo(
  function LinkRow(props: LinkRowProps) {
    const { link, visible, isSelected, isCurrent, canWrite, selection, onCurrent } = props;
    return (
      <Row
        selected={isSelected}
        current={isCurrent}
        data-link={link.id}
        // Keys move the focus from row to row. The mark of the current row shows where it is.
        tabIndex={isCurrent ? 0 : -1}
        className="outline-hidden"
        onMouseDown={() => onCurrent(link.id)}
        onFocus={() => onCurrent(link.id)}
      >
        {canWrite && (
          <SelectCell
            label={t.select(nameOf(link))}
            checked={isSelected}
            onCheckedChange={(isOn) => selection.set(link, isOn)}
          />
        )}
        {visible.split(",").map((name) => (
          <LinkCell key={name} name={name as ColumnName} {...props} />
        ))}
      </Row>
    );
  },
  (before, after) =>
    before.link === after.link &&
    before.trend === after.trend &&
    before.visible === after.visible &&
    before.isSelected === after.isSelected &&
    before.isCurrent === after.isCurrent &&
    before.period === after.period &&
    before.now === after.now &&
    before.selection === after.selection,
);

function LinkCell({
  name,
  link,
  trend,
  period,
  now,
  workspace,
  isSelected,
  onCopied,
}: LinkRowProps & { readonly name: ColumnName }) {
  switch (name) {
    case "shortLink":
      return (
        <Cell>
          <span className="flex min-w-0 items-center">
            <span className="mr-2.5 flex">
              <LinkTile link={link} />
            </span>
            <LinkName link={link} workspace={workspace} />
            <span className={`ml-1.5 flex-none ${isSelected ? "flex" : revealInRowClass}`}>
              <CopyButton
                text={link.shortUrl}
                label={t.copy(nameOf(link))}
                copiedLabel={t.copied(nameOf(link))}
                onCopied={() => onCopied(link)}
              />
            </span>
          </span>
        </Cell>
      );
    case "title":
      return (
        <Cell muted title={link.title ?? undefined}>
          {link.title}
        </Cell>
      );
    case "destination":
      return (
        <Cell muted title={link.url ?? link.fileName ?? undefined}>
          {destinationOf(link)}
          {link.rules.length > 0 && (
            <span className="ml-1.5 text-12 text-text-3">{t.rulesCount(link.rules.length)}</span>
          )}
        </Cell>
      );
    case "tags":
      return (
        <Cell>
          <Tags tags={link.tags} />
        </Cell>
      );
    case "trend":
      return (
        <Cell className="overflow-visible">
          <Trend link={link} trend={trend} period={period} now={now} />
        </Cell>
      );
    case "clicks": {
      const clicks = clicksOf(link, trend, period);
      return (
        <Cell align="end">{clicks === undefined ? <Skeleton className="ml-auto w-10" /> : formatNumber(clicks)}</Cell>
      );
    }
    case "lastClick":
      return (
        <Cell align="end" muted>
          <Ago at={link.lastClickAt} now={now} empty={t.noClick} />
        </Cell>
      );
    case "quota":
      return (
        <Cell align="end" muted>
          {link.hitsLimit === null ? "" : `${formatNumber(link.hitsUsed)} / ${formatNumber(link.hitsLimit)}`}
        </Cell>
      );
    case "created":
    case "changed":
    case "expires":
      return (
        <Cell align="end" muted>
          <Day at={{ created: link.createdAt, changed: link.updatedAt, expires: link.expiresAt }[name]} />
        </Cell>
      );
    case "status":
      return (
        <Cell>
          <LinkStatus link={link} now={now} />
        </Cell>
      );
  }
}
