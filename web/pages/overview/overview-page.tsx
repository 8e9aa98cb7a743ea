import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import Link2 from "lucide-react/icons/link";
import { listQuery } from "../../api/queries.ts";
import { overviewTexts as t } from "../../texts/overview.ts";
import { reportTexts } from "../../texts/report.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Page, PageHeader } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { AddNote } from "../report/add-note.tsx";
import { BreakdownCards } from "../report/breakdown-cards.tsx";
import { ChartWaiting } from "../report/chart-waiting.tsx";
import { ClicksChart } from "../report/clicks-chart.tsx";
import { allDimensions } from "../report/dimensions.ts";
import { ExportMenu } from "../report/export-menu.tsx";
import { Figures, FiguresWaiting } from "../report/figures.tsx";
import { Honesty } from "../report/honesty.tsx";
import { LiveCard } from "../report/live-card.tsx";
import { AsOf, Loaded } from "../report/loaded.tsx";
import { ReportBar } from "../report/report-bar.tsx";
import { useReportQuery } from "../report/report-query.ts";
import { useReport } from "../report/report-state.ts";
import { useAnnotations } from "../report/use-annotations.ts";
import { useLiveClicks } from "../report/use-live-clicks.ts";
import { DeadTargets } from "./dead-targets.tsx";
import { MovedCard } from "./moved-card.tsx";
import { NearLimits } from "./near-limits.tsx";
import { TopLinks } from "./top-links.tsx";

/** All links of the workspace together: how much, what changed, and what needs somebody. */
export function OverviewPage() {
  const { slug } = useWorkspace();
  const { data: counts } = useQuery(listQuery(slug, "GET /api/links/counts"));
  return (
    <Page>
      {counts?.all === 0 ? (
        <>
          <PageHeader title={t.title} />
          <Nothing />
        </>
      ) : (
        <WorkspaceReport />
      )}
    </Page>
  );
}

function Nothing() {
  const { slug, can } = useWorkspace();
  return (
    <Card>
      <Empty
        icon={Link2}
        action={
          can("links:write") && (
            <Link
              to="/w/$workspace/start"
              params={{ workspace: slug }}
              search={{}}
              className={buttonClass({ variant: "primary" })}
            >
              {t.start}
            </Link>
          )
        }
      >
        {t.empty}
      </Empty>
    </Card>
  );
}

const subject = { kind: "workspace" } as const;

function WorkspaceReport() {
  const { can, slug } = useWorkspace();
  const controls = useReport("30d");
  const figures = useReportQuery(subject, controls, { compare: true });
  const breakdowns = useReportQuery(subject, controls, { breakdown: allDimensions, limit: 50 });
  const live = useLiveClicks(subject, undefined);
  const notes = useAnnotations(undefined, figures.data);
  return (
    <>
      <PageHeader title={t.title} remark={<AsOf query={figures} />} />
      <ReportBar
        controls={controls}
        subject={subject}
        report={figures.data}
        actions={<ExportMenu {...{ subject, controls }} name={slug} report={figures.data} />}
      />
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_var(--rail)]">
        <div className="grid min-w-0 content-start gap-4">
          <Card aria-label={reportTexts.figures.clicks}>
            <Loaded
              query={figures}
              failed={reportTexts.couldNotLoad}
              small={false}
              onReset={controls.reset}
              waiting={
                <>
                  <FiguresWaiting />
                  <ChartWaiting />
                </>
              }
            >
              {(report) => (
                <>
                  <Figures report={report} controls={controls} excludeAddress="/clicks/exclude" />
                  <ClicksChart
                    report={report}
                    controls={controls}
                    annotations={notes.items}
                    actions={can("links:write") && <AddNote notes={notes} zone={report.zone} />}
                  />
                  <Honesty report={report} />
                </>
              )}
            </Loaded>
          </Card>
          <MovedCard zone={controls.workspaceZone} />
          <TopLinks controls={controls} />
          <BreakdownCards subject={subject} controls={controls} query={breakdowns} />
        </div>
        <div className="grid min-w-0 content-start gap-4">
          <NearLimits />
          <DeadTargets />
          <LiveCard live={live} zone={controls.zone} withLink />
        </div>
      </div>
    </>
  );
}
