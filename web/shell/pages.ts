import File from "lucide-react/icons/file";
import Gauge from "lucide-react/icons/gauge";
import Globe from "lucide-react/icons/globe";
import Import from "lucide-react/icons/import";
import LayoutDashboard from "lucide-react/icons/layout-dashboard";
import Link2 from "lucide-react/icons/link";
import Settings from "lucide-react/icons/settings";
import Tags from "lucide-react/icons/tags";
import Users from "lucide-react/icons/users";
import { shellTexts as t } from "../texts/shell.ts";
import type { Permission } from "../workspace.ts";

/** The pages of a workspace, in the order of the sidebar. */
export const pages = [
  { to: "/w/$workspace", name: t.overview, icon: LayoutDashboard, needs: "stats:read", group: "main" },
  { to: "/w/$workspace/links", name: t.links, icon: Link2, needs: "links:read", group: "main" },
  { to: "/w/$workspace/files", name: t.files, icon: File, needs: "files:read", group: "main" },
  { to: "/w/$workspace/domains", name: t.domains, icon: Globe, needs: "links:read", group: "main" },
  { to: "/w/$workspace/tags", name: t.tags, icon: Tags, needs: "links:read", group: "main" },
  { to: "/w/$workspace/usage", name: t.usage, icon: Gauge, needs: "usage:read", group: "rest" },
  { to: "/w/$workspace/members", name: t.members, icon: Users, needs: "links:read", group: "rest" },
  { to: "/w/$workspace/import", name: t.import, icon: Import, needs: "links:write", group: "rest" },
  { to: "/w/$workspace/settings", name: t.settings, icon: Settings, needs: "admin", group: "rest" },
] as const satisfies readonly ShellPage[];

/** What the page at this address asks for: an address can be typed, or come from somebody with another role. */
export function neededAt(pathname: string): Permission | undefined {
  const place = pathname.replace(/^\/w\/[^/]+/, "/w/$workspace").replace(/\/$/, "");
  if (place === "/w/$workspace/links/replace") return "links:write";
  return pages.findLast(({ to }) => place === to || (to !== "/w/$workspace" && place.startsWith(`${to}/`)))?.needs;
}

interface ShellPage {
  readonly to: string;
  readonly name: string;
  readonly icon: React.ComponentType<{ className?: string }>;
  readonly needs: Permission;
  readonly group: "main" | "rest";
}
