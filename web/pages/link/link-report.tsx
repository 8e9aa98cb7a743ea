import type { Link } from "../../api/generated.ts";
import { useShortcuts } from "../../keys.ts";
import { useLinkDrawer } from "../../shell/link-drawer.ts";
import { linkTexts } from "../../texts/link.ts";
import { reportTexts as t } from "../../texts/report.ts";
import { Card } from "../../ui/card.tsx";
import { copyText } from "../../ui/copy-text.ts";
import { Page } from "../../ui/page.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { shortly } from "../edit/link-form.ts";
import { AddNote } from "../report/add-note.tsx";
import { BreakdownCards } from "../report/breakdown-cards.tsx";
import { ChartWaiting } from "../report/chart-waiting.tsx";
import { ClickList } from "../report/click-list.tsx";
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
import { Breadcrumb } from "./breadcrumb.tsx";
import { LinkHeader } from "./link-header.tsx";
import { QuotaCard } from "./quota-card.tsx";

export function LinkReport({ link }: { readonly link: Link }) {
  const { can } = useWorkspace();
  const drawer = useLinkDrawer();
  const toast = useToast();
  const subject = { kind: "link", id: link.id } as const;
  const controls = useReport("30d");
  const figures = useReportQuery(subject, controls, { compare: true });
  const breakdowns = useReportQuery(subject, controls, { breakdown: allDimensions, limit: 50 });
  const live = useLiveClicks(subject, link);
  const notes = useAnnotations(link.id, figures.data);
  const address = shortly(link.shortUrl);

  useShortcuts([
    { keys: "e", run: () => drawer.edit(link.id) },
    { keys: "q", run: () => drawer.edit(link.id, "qr") },
    {
      keys: "c",
      run: () =>
        void copyText(link.shortUrl).then(
          (isDone) => isDone && toast({ message: linkTexts.copied(address), key: "copied" }),
        ),
    },
  ]);

  return (
    <Page>
      <Breadcrumb code={link.code} />
      <LinkHeader link={link} />
      <ReportBar
        controls={controls}
        subject={subject}
        report={figures.data}
        actions={
          <>
            <AsOf query={figures} />
            <ExportMenu {...{ subject, controls }} name={link.code} report={figures.data} />
          </>
        }
      />
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_var(--rail)]">
        <div className="grid min-w-0 content-start gap-4">
          <Card aria-label={t.figures.clicks}>
            <Loaded
              query={figures}
              failed={t.couldNotLoad}
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
                  <Figures
                    report={report}
                    controls={controls}
                    excludeAddress={new URL("/clicks/exclude", link.shortUrl).href}
                  />
                  <ClicksChart
                    report={report}
                    controls={controls}
                    annotations={notes.items}
                    actions={can("links:write") && <AddNote link={link.id} notes={notes} zone={report.zone} />}
                  />
                  <Honesty report={report} />
                </>
              )}
            </Loaded>
          </Card>
          <BreakdownCards subject={subject} controls={controls} query={breakdowns} link={link} />
          <ClickList subject={subject} controls={controls} />
        </div>
        <div className="grid min-w-0 content-start gap-4">
          <QuotaCard link={link} />
          <LiveCard live={live} zone={controls.zone} />
        </div>
      </div>
    </Page>
  );
}
