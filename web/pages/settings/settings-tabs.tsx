import { Link } from "@tanstack/react-router";
import { settingsTexts as t } from "../../texts/settings.ts";
import { showChosenTab, tabBarClass, tabClass } from "../../ui/tabs.tsx";
import { useWorkspace } from "../../workspace.ts";

const tabs = [
  { to: "/w/$workspace/settings", name: t.tabs.general },
  { to: "/w/$workspace/settings/keys", name: t.tabs.keys },
  { to: "/w/$workspace/settings/email", name: t.tabs.email },
  { to: "/w/$workspace/settings/shares", name: t.tabs.shares },
  { to: "/w/$workspace/settings/log", name: t.tabs.log },
] as const;

/** The pages of the settings, on top of each of them. */
export function SettingsTabs() {
  const { slug } = useWorkspace();
  return (
    <nav ref={showChosenTab} aria-label={t.tabsLabel} className={`mb-5 ${tabBarClass}`}>
      {tabs.map(({ to, name }) => (
        <Link
          key={to}
          to={to}
          params={{ workspace: slug }}
          search={{}}
          activeOptions={{ exact: true, includeSearch: false }}
          activeProps={{ className: tabClass(true) }}
          inactiveProps={{ className: tabClass(false) }}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}
