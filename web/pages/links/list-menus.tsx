import { Link as RouterLink } from "@tanstack/react-router";
import Bookmark from "lucide-react/icons/bookmark";
import Calendar from "lucide-react/icons/calendar";
import ChevronDown from "lucide-react/icons/chevron-down";
import Download from "lucide-react/icons/download";
import Ellipsis from "lucide-react/icons/ellipsis";
import Import from "lucide-react/icons/import";
import Replace from "lucide-react/icons/replace";
import SlidersHorizontal from "lucide-react/icons/sliders-horizontal";
import Tags from "lucide-react/icons/tags";
import Trash2 from "lucide-react/icons/trash-2";
import X from "lucide-react/icons/x";
import { linksTexts as t } from "../../texts/links.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Menu, MenuCheckItem, MenuGroup, MenuItem, MenuRadio, MenuSeparator } from "../../ui/menu.tsx";
import { useWorkspace } from "../../workspace.ts";
import { type ColumnName, columnLooks, columnNames } from "./columns.ts";
import type { AddressChange, ListAddress, Sort } from "./list-address.ts";
import { type Period, periodLabels, periods } from "./period.ts";
import { useIsPhone } from "./use-is-phone.ts";
import type { SavedView } from "./views.ts";

/** The menus beside the title: period, columns and order, and everything else. */
interface ListMenusProps {
  readonly address: ListAddress;
  readonly columns: { readonly shown: readonly ColumnName[]; show(name: ColumnName, isShown: boolean): void };
  readonly views: readonly SavedView[];
  readonly canSave: boolean;
  readonly onChange: (change: AddressChange) => void;
  readonly onPeriod: (period: Period) => void;
  readonly onSaveView: () => void;
  readonly onRemoveView: (view: SavedView) => void;
  readonly onExport: () => void;
}

const orders: readonly { value: string; label: string; sort: Sort; order: "asc" | "desc" }[] = [
  { value: "newest", label: t.newest, sort: "createdAt", order: "desc" },
  { value: "oldest", label: t.oldest, sort: "createdAt", order: "asc" },
  { value: "clicks", label: t.mostClicks, sort: "clicks", order: "desc" },
  { value: "lastClick", label: t.lastClicked, sort: "lastClickAt", order: "desc" },
  { value: "changed", label: t.lastChanged, sort: "updatedAt", order: "desc" },
  { value: "code", label: t.byCode, sort: "code", order: "asc" },
  { value: "expires", label: t.soonest, sort: "expiresAt", order: "asc" },
];

export function ListMenus(props: ListMenusProps) {
  const { address, columns, views, canSave, onChange, onPeriod, onSaveView, onRemoveView, onExport } = props;
  const { slug, can } = useWorkspace();
  const isPhone = useIsPhone();
  const look = isPhone ? "quiet" : "secondary";
  const period = (
    <MenuRadio
      label={t.period}
      value={address.period}
      onValueChange={onPeriod}
      options={periods.map((value) => ({ value, label: periodLabels[value] }))}
    />
  );
  const order = orders.find((one) => one.sort === address.sort && one.order === address.order)?.value ?? "";
  return (
    <>
      {!isPhone && (
        <Menu
          trigger={
            <Button icon={Calendar} iconEnd={ChevronDown}>
              {periodLabels[address.period]}
            </Button>
          }
        >
          {period}
        </Menu>
      )}
      <Menu trigger={<IconButton icon={SlidersHorizontal} label={t.display} variant={look} />}>
        {isPhone && (
          <>
            {period}
            <MenuSeparator />
          </>
        )}
        <MenuRadio
          label={t.sortBy}
          value={order}
          onValueChange={(value) => {
            const chosen = orders.find((one) => one.value === value);
            if (chosen) onChange({ sort: chosen.sort, order: chosen.order });
          }}
          options={orders
            .filter(({ sort }) => sort !== "clicks" || address.period === "month" || address.period === "all")
            .map(({ value, label }) => ({ value, label }))}
        />
        {!isPhone && (
          <>
            <MenuSeparator />
            <MenuGroup label={t.columns}>
              {columnNames
                .filter((name) => name !== "shortLink")
                .map((name) => (
                  <MenuCheckItem
                    key={name}
                    checked={columns.shown.includes(name)}
                    onCheckedChange={(isShown) => columns.show(name, isShown)}
                  >
                    {columnLooks[name].label}
                  </MenuCheckItem>
                ))}
            </MenuGroup>
          </>
        )}
      </Menu>
      <Menu trigger={<IconButton icon={Ellipsis} label={t.more} variant={look} />}>
        {canSave && (
          <MenuItem icon={Bookmark} onSelect={onSaveView}>
            {t.saveView}
          </MenuItem>
        )}
        {views.map((view) => (
          <MenuItem key={view.name} icon={X} onSelect={() => onRemoveView(view)}>
            {t.removeView(view.name)}
          </MenuItem>
        ))}
        {(canSave || views.length > 0) && <MenuSeparator />}
        <MenuItem icon={Download} onSelect={onExport}>
          {t.exportAll}
        </MenuItem>
        {can("links:write") && (
          <>
            <MenuItem
              icon={Import}
              link={<RouterLink to="/w/$workspace/import" params={{ workspace: slug }} search={{}} />}
            >
              {t.importLinks}
            </MenuItem>
            <MenuItem
              icon={Replace}
              link={
                <RouterLink
                  to="/w/$workspace/links/replace"
                  params={{ workspace: slug }}
                  search={(before: Readonly<Record<string, unknown>>) => before as never}
                />
              }
            >
              {t.replace}
            </MenuItem>
          </>
        )}
        <MenuItem icon={Tags} link={<RouterLink to="/w/$workspace/tags" params={{ workspace: slug }} search={{}} />}>
          {t.manageTags}
        </MenuItem>
        <MenuItem
          icon={Trash2}
          link={<RouterLink to="/w/$workspace/links/trash" params={{ workspace: slug }} search={{}} />}
        >
          {t.trash}
        </MenuItem>
      </Menu>
    </>
  );
}
