import { Link } from "@tanstack/react-router";
import CircleUser from "lucide-react/icons/circle-user";
import Ellipsis from "lucide-react/icons/menu";
import Plus from "lucide-react/icons/plus";
import Search from "lucide-react/icons/search";
import { shellTexts as t } from "../texts/shell.ts";
import { Menu, MenuItem, MenuSeparator } from "../ui/menu.tsx";
import { useWorkspace } from "../workspace.ts";
import { AccountMenu } from "./account-menu.tsx";
import { useLinkDrawer } from "./link-drawer.ts";
import { pages } from "./pages.ts";
import { WorkspaceMenu } from "./workspace-menu.tsx";

const tab =
  "grid h-14 min-w-14 place-items-center content-center gap-0.5 text-11 text-text-2 data-[status=active]:font-medium data-[status=active]:text-text";

/** The navigation of phones: workspace and account on top, the four places people go to below. */
export function BottomTabs({ onSearch }: { readonly onSearch: () => void }) {
  const { slug, can } = useWorkspace();
  const drawer = useLinkDrawer();
  const shown = pages.filter(({ needs }) => can(needs));
  const main = shown.filter(({ to }) => /workspace(?:\/links|\/usage)?$/.test(to));
  return (
    <>
      <header className="fixed inset-x-0 top-0 z-20 flex h-[var(--topbar)] items-center gap-1 bg-bg px-2.5 sm:hidden">
        <div className="min-w-0 flex-1">
          <WorkspaceMenu />
        </div>
        <button type="button" aria-label={t.searchShort} onClick={onSearch} className="grid size-11 place-items-center">
          <Search className="size-5" />
        </button>
        <AccountMenu />
      </header>
      <nav
        aria-label={t.mainNavigation}
        className="fixed inset-x-0 bottom-0 z-20 flex items-center justify-around border-t border-line bg-surface px-1 pt-1.5 pb-[calc(6px+env(safe-area-inset-bottom))] sm:hidden"
      >
        {main.slice(0, 2).map((page) => (
          <Tab key={page.to} page={page} slug={slug} />
        ))}
        {can("links:write") && (
          <button
            type="button"
            aria-label={t.newLink}
            onClick={() => drawer.create()}
            className="grid h-11 w-12 place-items-center rounded-3 bg-ink text-on-ink"
          >
            <Plus className="size-5" />
          </button>
        )}
        {main.slice(2).map((page) => (
          <Tab key={page.to} page={page} slug={slug} />
        ))}
        <Menu
          side="top"
          trigger={
            <button type="button" className={tab}>
              <Ellipsis className="size-5" aria-hidden />
              {t.more}
            </button>
          }
        >
          {shown
            .filter((page) => !main.includes(page))
            .map(({ to, name, icon }) => (
              <MenuItem key={to} icon={icon} link={<Link to={to} params={{ workspace: slug }} search={{}} />}>
                {name}
              </MenuItem>
            ))}
          <MenuSeparator />
          <MenuItem icon={CircleUser} link={<Link to="/account" search={{}} />}>
            {t.account}
          </MenuItem>
        </Menu>
      </nav>
    </>
  );
}

function Tab({ page: { to, name, icon: Icon }, slug }: { page: (typeof pages)[number]; slug: string }) {
  return (
    <Link
      to={to}
      params={{ workspace: slug }}
      search={{}}
      activeOptions={{ exact: to === "/w/$workspace", includeSearch: false }}
      className={tab}
    >
      <Icon className="size-5" />
      {name}
    </Link>
  );
}
