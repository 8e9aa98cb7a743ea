import { commonTexts } from "../../texts/common.ts";
import { reportTexts } from "../../texts/report.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { type NameOf, rowsOf } from "./bar-rows.ts";
import { Bars } from "./bars.tsx";
import { BarsWaiting } from "./breakdown-card.tsx";
import { isChosen } from "./filters.ts";
import { Loaded } from "./loaded.tsx";
import { type Dimension, type Subject, useReportQuery } from "./report-query.ts";
import type { ReportControls } from "./report-state.ts";

const t = reportTexts.cards;
/** As many as the API returns. */
const valuesMost = 300;

interface AllValuesProps {
  readonly title: string;
  readonly subject: Subject;
  readonly controls: ReportControls;
  readonly dimension: Dimension;
  readonly nameOf: NameOf;
  readonly onClose: () => void;
}

/** Everything that "Other" of a card stands for. */
export function AllValues({ title, subject, controls, dimension, nameOf, onClose }: AllValuesProps) {
  const query = useReportQuery(subject, controls, { breakdown: [dimension], limit: valuesMost });
  return (
    <Dialog open onClose={onClose} title={title} closeLabel={commonTexts.close} size="md">
      <div className="-mx-2 pb-3">
        <Loaded query={query} failed={t.couldNotLoad(title)} waiting={<BarsWaiting />}>
          {(report) => {
            const found = report.breakdowns[dimension];
            return (
              <Bars
                rows={found ? rowsOf(found, nameOf) : []}
                total={report.totals.clicks}
                isChosen={(value) => isChosen(controls.filters, dimension, value)}
                onToggle={(value, exclude) => {
                  controls.toggle(dimension, value, exclude);
                  onClose();
                }}
              />
            );
          }}
        </Loaded>
      </div>
    </Dialog>
  );
}
