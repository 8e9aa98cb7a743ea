import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import ChevronsUpDown from "lucide-react/icons/chevrons-up-down";
import Plus from "lucide-react/icons/plus";
import { accountQuery } from "../api/queries.ts";
import { shellTexts as t } from "../texts/shell.ts";
import { WorkspaceMark } from "../ui/avatar.tsx";
import { Menu, MenuGroup, MenuItem, MenuSeparator } from "../ui/menu.tsx";
import { useWorkspace } from "../workspace.ts";

export function WorkspaceMenu() {
  const { name, slug } = useWorkspace();
  const { data: account } = useQuery(accountQuery);
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="flex h-9 w-full items-center gap-2 rounded-2 px-1.5 max-sm:h-11 text-left hover:bg-hover sm:max-md:justify-center"
        >
          <WorkspaceMark name={name} />
          <span className="min-w-0 truncate font-semibold sm:flex-1 max-md:sr-only max-sm:not-sr-only">{name}</span>
          <span className="sr-only">{t.switchWorkspace}</span>
          <ChevronsUpDown className="size-3.5 text-text-3 max-md:hidden max-sm:inline" aria-hidden />
        </button>
      }
    >
      <MenuGroup label={t.workspaces}>
        {account?.workspaces.map((one) => (
          <MenuItem
            key={one.id}
            link={<Link to="/w/$workspace" params={{ workspace: one.slug }} search={{}} />}
            isCurrent={one.slug === slug}
          >
            <span className="flex min-w-0 items-center gap-2">
              <WorkspaceMark name={one.name} />
              <span className="truncate">{one.name}</span>
            </span>
          </MenuItem>
        ))}
      </MenuGroup>
      <MenuSeparator />
      <MenuItem icon={Plus} link={<Link to="/account" search={{ new: "workspace" }} />}>
        {t.newWorkspace}
      </MenuItem>
    </Menu>
  );
}
