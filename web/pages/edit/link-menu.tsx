import { Link as RouteLink } from "@tanstack/react-router";
import ChartNoAxesColumn from "lucide-react/icons/chart-no-axes-column";
import CirclePause from "lucide-react/icons/circle-pause";
import CirclePlay from "lucide-react/icons/circle-play";
import CopyPlus from "lucide-react/icons/copy-plus";
import Ellipsis from "lucide-react/icons/ellipsis";
import ExternalLink from "lucide-react/icons/external-link";
import Trash2 from "lucide-react/icons/trash-2";
import type { Link } from "../../api/generated.ts";
import { useLinkDrawer } from "../../shell/link-drawer.ts";
import { actionTexts as t } from "../../texts/edit.ts";
import { IconButton } from "../../ui/button.tsx";
import { Menu, MenuItem, MenuSeparator } from "../../ui/menu.tsx";
import { useWorkspace } from "../../workspace.ts";
import { useLinkActions } from "./use-link-actions.ts";

/** In the header of the drawer. */
export function LinkMenu({ link }: { readonly link: Link }) {
  const { slug, can } = useWorkspace();
  const drawer = useLinkDrawer();
  const { setStatus, remove } = useLinkActions();
  const isActive = link.status === "active";
  return (
    <Menu trigger={<IconButton icon={Ellipsis} label={t.menu} tooltipSide="bottom" />}>
      <MenuItem
        icon={ChartNoAxesColumn}
        link={<RouteLink to="/w/$workspace/links/$link" params={{ workspace: slug, link: link.id }} search={{}} />}
      >
        {t.statistics}
      </MenuItem>
      <MenuItem icon={ExternalLink} link={<a href={link.shortUrl} target="_blank" rel="noreferrer" />}>
        {t.visit}
      </MenuItem>
      {can("links:write") && (
        <>
          <MenuItem icon={CopyPlus} onSelect={() => drawer.duplicate(link.id)}>
            {t.duplicate}
          </MenuItem>
          <MenuItem
            icon={isActive ? CirclePause : CirclePlay}
            onSelect={() => void setStatus(link, isActive ? "disabled" : "active")}
          >
            {isActive ? t.disable : t.enable}
          </MenuItem>
          <MenuSeparator />
          <MenuItem
            icon={Trash2}
            danger
            onSelect={() => {
              drawer.close();
              void remove(link);
            }}
          >
            {t.delete}
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
