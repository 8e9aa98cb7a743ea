import Download from "lucide-react/icons/download";
import { useState } from "react";
import { addressOf } from "../../api/call.ts";
import type { ClickReport } from "../../api/generated.ts";
import { messageOf } from "../../forms.ts";
import { reportTexts } from "../../texts/report.ts";
import { Button } from "../../ui/button.tsx";
import { Menu, MenuGroup, MenuItem, MenuSeparator } from "../../ui/menu.tsx";
import { useToast } from "../../ui/toast.tsx";
import { allDimensions } from "./dimensions.ts";
import { download } from "./download.ts";
import { dateIn } from "./periods.ts";
import { clickParams, type Dimension, paramsOf, reportAddress, type Subject } from "./report-query.ts";
import type { ReportControls } from "./report-state.ts";

const t = reportTexts.exports;
const valuesMost = 300;

interface ExportMenuProps {
  readonly subject: Subject;
  readonly controls: ReportControls;
  /** Begins the names of the files. */
  readonly name: string;
  readonly report: ClickReport | undefined;
}

const cards: readonly (readonly [Dimension, string])[] = [
  ["referrer", reportTexts.cards.sources],
  ["country", reportTexts.cards.countries],
  ["device", reportTexts.cards.devices],
  ["browser", reportTexts.cards.browsers],
];

/** Saves exactly what is on screen: the same period, filters, traffic, interval and comparison. */
export function ExportMenu({ subject, controls, name, report }: ExportMenuProps) {
  const [isBusy, setBusy] = useState(false);
  const toast = useToast();
  const range = report
    ? `${dateIn(report.zone, Date.parse(report.from))}_${dateIn(report.zone, Date.parse(report.to) - 1)}`
    : "";

  async function save(address: string, what: string, ending: string): Promise<void> {
    const file = `${name}-${what}-${range}.${ending}`.replaceAll(/[^\w.-]+/g, "-");
    setBusy(true);
    try {
      await download(address, file);
      toast({ message: t.done(file) });
    } catch (error) {
      toast({ message: messageOf(error), tone: "bad" });
    }
    setBusy(false);
  }

  const clicks = (format: "csv" | "jsonl") => {
    const query = { ...clickParams(controls), format };
    return subject.kind === "link"
      ? addressOf("GET /api/links/{id}/clicks", { path: { id: subject.id }, query })
      : addressOf("GET /api/clicks", { query });
  };
  const series = () => reportAddress(subject, { ...paramsOf(controls, { compare: true }), format: "csv" });
  const values = (dimension: Dimension) =>
    reportAddress(subject, { ...paramsOf(controls, { breakdown: [dimension], limit: valuesMost }), format: "csv" });
  const everything = () =>
    reportAddress(subject, paramsOf(controls, { breakdown: allDimensions, limit: valuesMost, compare: true }));

  return (
    <Menu
      trigger={
        <Button variant="quiet" size="sm" icon={Download} loading={isBusy}>
          {t.title}
        </Button>
      }
    >
      <MenuGroup label={t.what}>
        <MenuItem onSelect={() => void save(series(), "clicks-over-time", "csv")}>{t.series}</MenuItem>
        {cards.map(([dimension, title]) => (
          <MenuItem key={dimension} onSelect={() => void save(values(dimension), dimension, "csv")}>
            {t.breakdown(title)}
          </MenuItem>
        ))}
        <MenuItem onSelect={() => void save(everything(), "report", "json")}>{t.report}</MenuItem>
        <MenuSeparator />
        <MenuItem onSelect={() => void save(clicks("csv"), "clicks", "csv")}>{t.clicksCsv}</MenuItem>
        <MenuItem onSelect={() => void save(clicks("jsonl"), "clicks", "jsonl")}>{t.clicksJson}</MenuItem>
      </MenuGroup>
    </Menu>
  );
}
