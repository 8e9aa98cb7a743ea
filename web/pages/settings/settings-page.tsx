import { useQuery } from "@tanstack/react-query";
import { listQuery } from "../../api/queries.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { settingsTexts as t } from "../../texts/settings.ts";
import { Page, PageHeader } from "../../ui/page.tsx";
import { ErrorState, SkeletonRows } from "../../ui/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { BrandingSection } from "./branding-section.tsx";
import { DangerSection } from "./danger-section.tsx";
import { SettingsTabs } from "./settings-tabs.tsx";
import { StatisticsSection } from "./statistics-section.tsx";
import { WorkspaceSection } from "./workspace-section.tsx";

export function SettingsPage() {
  const { slug, can } = useWorkspace();
  const workspace = useQuery(listQuery(slug, "GET /api/workspace"));
  const branding = useQuery(listQuery(slug, "GET /api/branding"));
  const clicks = useQuery(listQuery(slug, "GET /api/stats/settings"));
  const failed = [workspace, branding, clicks].find(({ isError, data }) => isError && data === undefined);
  return (
    <Page>
      <SettingsTabs />
      <div className="max-w-[680px]">
        <PageHeader title={t.title} />
        {failed ? (
          <ErrorState
            message={`${t.couldNotLoad} ${messageOf(failed.error)}`}
            retryLabel={commonTexts.tryAgain}
            retrying={failed.isFetching}
            onRetry={() => void failed.refetch()}
          />
        ) : workspace.data && branding.data && clicks.data ? (
          <div key={slug} className="grid grid-cols-1 gap-4">
            <WorkspaceSection key={workspace.data.slug} workspace={workspace.data} />
            <BrandingSection branding={branding.data} />
            <StatisticsSection settings={clicks.data} />
            {can("admin") && <DangerSection workspace={workspace.data} />}
          </div>
        ) : (
          <SkeletonRows rows={6} label={commonTexts.loading} />
        )}
      </div>
    </Page>
  );
}
