import { useQuery } from "@tanstack/react-query";
import { listQuery } from "../../api/queries.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { emailTexts as t } from "../../texts/email.ts";
import { Page, PageHeader } from "../../ui/page.tsx";
import { ErrorState, SkeletonRows } from "../../ui/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { SettingsTabs } from "../settings/settings-tabs.tsx";
import { EmailPreview } from "./email-preview.tsx";
import { EmailUsage } from "./email-usage.tsx";
import { NoticesSection } from "./notices-section.tsx";
import { SendgridSection } from "./sendgrid-section.tsx";
import { Suppressions } from "./suppressions.tsx";

export function EmailPage() {
  const { slug } = useWorkspace();
  const settings = useQuery(listQuery(slug, "GET /api/email/settings"));
  return (
    <Page>
      <SettingsTabs />
      <div className="max-w-[680px]">
        <PageHeader title={t.title} description={t.description} />
        {settings.isError && settings.data === undefined ? (
          <ErrorState
            message={`${t.couldNotLoad} ${messageOf(settings.error)}`}
            retryLabel={commonTexts.tryAgain}
            retrying={settings.isFetching}
            onRetry={() => void settings.refetch()}
          />
        ) : settings.data === undefined ? (
          <SkeletonRows rows={6} label={commonTexts.loading} />
        ) : (
          <div key={slug} className="grid grid-cols-1 gap-4">
            <EmailUsage />
            <NoticesSection settings={settings.data} />
            <EmailPreview />
            <SendgridSection settings={settings.data} />
            <Suppressions />
          </div>
        )}
      </div>
    </Page>
  );
}
