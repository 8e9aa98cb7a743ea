import { useNavigate } from "@tanstack/react-router";
import CirclePause from "lucide-react/icons/circle-pause";
import CirclePlay from "lucide-react/icons/circle-play";
import CopyPlus from "lucide-react/icons/copy-plus";
import Ellipsis from "lucide-react/icons/ellipsis";
import ExternalLink from "lucide-react/icons/external-link";
import EyeOff from "lucide-react/icons/eye-off";
import History from "lucide-react/icons/history";
import QrCode from "lucide-react/icons/qr-code";
import Trash2 from "lucide-react/icons/trash-2";
import type { Link } from "../../api/generated.ts";
import { useLinkDrawer } from "../../shell/link-drawer.ts";
import { linkTexts } from "../../texts/link.ts";
import { IconButton } from "../../ui/button.tsx";
import { Menu, MenuItem, MenuSeparator } from "../../ui/menu.tsx";
import { useWorkspace } from "../../workspace.ts";
import { useLinkActions } from "../edit/use-link-actions.ts";

const t = linkTexts.menu;

export function LinkPageMenu({ link }: { readonly link: Link }) {
  const { slug, can } = useWorkspace();
  const drawer = useLinkDrawer();
  const navigate = useNavigate();
  const { setStatus, remove } = useLinkActions();
  const isActive = link.status === "active";
  const exclude = new URL("/clicks/exclude", link.shortUrl).href;

  async function leaveAndRemove(): Promise<void> {
    // First away from the page: it would read the link again, which is gone.
    await navigate({ to: "/w/$workspace/links", params: { workspace: slug }, search: {} });
    await remove(link);
  }

  return (
    <Menu trigger={<IconButton variant="secondary" icon={Ellipsis} label={linkTexts.more} />}>
      <MenuItem icon={ExternalLink} link={<a href={link.shortUrl} target="_blank" rel="noreferrer" />}>
        {t.visit}
      </MenuItem>
      <MenuItem icon={QrCode} shortcut="Q" onSelect={() => drawer.edit(link.id, "qr")}>
        {t.qr}
      </MenuItem>
      <MenuItem icon={History} onSelect={() => drawer.edit(link.id, "history")}>
        {t.history}
      </MenuItem>
      <MenuItem icon={EyeOff} link={<a href={exclude} target="_blank" rel="noreferrer" />}>
        {t.exclude}
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
          <MenuItem icon={Trash2} danger onSelect={() => void leaveAndRemove()}>
            {t.delete}
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
