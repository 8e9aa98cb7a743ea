import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import Lock from "lucide-react/icons/lock";
import { accountQuery } from "../../api/queries.ts";
import { operatorTexts as t } from "../../texts/operator.ts";
import { Page, PageHeader } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { showChosenTab, tabBarClass, tabClass } from "../../ui/tabs.tsx";
import { AbuseReports } from "./abuse-reports.tsx";
import { HealthView } from "./health-view.tsx";
import { JobsView } from "./jobs-view.tsx";
import { OperatorLog } from "./operator-log.tsx";
import { PeopleTable } from "./people-table.tsx";
import { PlansView } from "./plans-view.tsx";
import { PlatformEmail } from "./platform-email.tsx";
import { WorkspacesTable } from "./workspaces-table.tsx";

const sections = {
  workspaces: WorkspacesTable,
  people: PeopleTable,
  plans: PlansView,
  abuse: AbuseReports,
  email: PlatformEmail,
  jobs: JobsView,
  health: HealthView,
  log: OperatorLog,
} as const;

type SectionName = keyof typeof sections;
const names = Object.keys(sections) as SectionName[];

/** For those who run the server: everything that belongs to no workspace. */
export function OperatorPage() {
  const { data: account } = useQuery(accountQuery);
  const { section = "workspaces" } = useParams({ strict: false });
  const name = names.find((one) => one === section) ?? "workspaces";
  const Section = sections[name];
  if (account !== undefined && !account.person.operator) {
    return (
      <Page>
        <PageHeader title={t.forbiddenTitle} />
        <Empty icon={Lock}>{t.forbidden}</Empty>
      </Page>
    );
  }
  return (
    <Page>
      <PageHeader title={t.title} description={t.description} />
      <nav ref={showChosenTab} aria-label={t.title} className={`mb-5 ${tabBarClass}`}>
        {names.map((one) => (
          <Link
            key={one}
            to="/operator/$section"
            params={{ section: one }}
            search={{}}
            aria-current={one === name ? "page" : undefined}
            className={tabClass(one === name)}
          >
            {t.sections[one]}
          </Link>
        ))}
      </nav>
      <Section />
    </Page>
  );
}
