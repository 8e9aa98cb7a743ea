import Bot from "lucide-react/icons/bot";
import Pause from "lucide-react/icons/circle-pause";
import Link2 from "lucide-react/icons/link-2";
import Plus from "lucide-react/icons/plus";
import TagIcon from "lucide-react/icons/tag";
import Trash2 from "lucide-react/icons/trash-2";
import { useState } from "react";
import { LetterTile } from "../../ui/avatar.tsx";
import { BulkBar, BulkSeparator } from "../../ui/bulk-bar.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Status, Tag } from "../../ui/chip.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Meter, MeterKey, MeterLine, meterTone, Progress } from "../../ui/meter.tsx";
import { Sparkline } from "../../ui/sparkline.tsx";
import { Stat, StatRow } from "../../ui/stat.tsx";
import { Empty, ErrorState, Loading, Notice, OfflineBar, Skeleton, SkeletonRows } from "../../ui/states.tsx";
import * as T from "../../ui/table.tsx";
import { Exhibit, Line } from "./exhibit.tsx";

const trend = [4, 5, 4, 4, 5, 6, 5, 7, 6, 5, 7, 9, 12, 21, 16, 12, 10, 9, 6, 7];

export function Data() {
  return (
    <>
      <Card>
        <StatRow>
          <Stat label="Clicks" value="8,412" change="+23.4%" direction="up" remark="from 6,817" />
          <Stat label="Daily visitors" value="6,980" change="−18.3%" direction="down" remark="from 8,543" />
          <Stat label="Clicks per visitor" value="1.21" change="+4.3%" direction="up" remark="from 1.16" />
          <Stat label="Bots and previews" icon={Bot} value="1,207" remark="Not in any other figure" apart />
        </StatRow>
      </Card>
      <Links />
      <Exhibit title="Meters">
        <div className="grid gap-6 sm:grid-cols-3">
          <div className="grid content-start gap-3">
            <MeterLine
              label="New links"
              used={318}
              limit={1000}
              valueText="318 of 1,000"
              figure={
                <>
                  <b>318</b> of 1,000
                </>
              }
            />
            <MeterLine
              label="Storage"
              used={0}
              limit={1}
              valueText="0 of 1 GB"
              figure={
                <>
                  <b>0 MB</b> of 1 GB
                </>
              }
            />
            <Progress label="Import" value={0.4} />
            <Progress label="Upload of menu.pdf" value={undefined} />
          </div>
          <div className="grid content-start gap-2">
            <Meter label="Hits of winter" used={8412} limit={10000} forecast={10500} valueText="8,412 of 10,000 hits" />
            <MeterKey tone={meterTone(8412, 10000)} used="Used" expected="Expected">
              Resets 1 Dec
            </MeterKey>
            <Meter label="Hits of app" used={3000} limit={10000} forecast={6500} valueText="3,000 of 10,000 hits" />
          </div>
          <div className="grid content-start gap-2">
            <Meter label="Hits of partner-day" used={3500} limit={3500} valueText="3,500 of 3,500 hits" />
            <Line>
              <Sparkline values={trend} label="Clicks in the last 20 days" />
              <Sparkline values={trend} quiet />
              <Sparkline values={[]} />
            </Line>
          </div>
        </div>
      </Exhibit>
      <Exhibit title="States">
        <OfflineBar isOnTop>You are offline. Changes are disabled until you reconnect.</OfflineBar>
        <Empty icon={Link2} action={<Button icon={Plus}>New link</Button>}>
          No links yet. Create the first one.
        </Empty>
        <ErrorState message="Could not load countries." retryLabel="Try again" onRetry={() => {}} small />
        <Line>
          <Loading label="Loading links" visible />
          <Skeleton className="w-40" />
        </Line>
        <SkeletonRows rows={2} label="Loading links" />
        <Notice>Links created here count towards the plan.</Notice>
        <Notice tone="accent">A newer version is available.</Notice>
        <Notice tone="warn" action={<Button size="sm">Raise limit</Button>}>
          Full around 19 November at 530 hits a day.
        </Notice>
        <Notice tone="bad">The target answers 404 since 09:12. Visitors still go there.</Notice>
        <CodeBlock
          label="DNS record"
          code="_quicklink.go.alder.example. 300 IN TXT ql-verify=4f1c9b2e7a"
          copyLabel="Copy DNS record"
          copiedLabel="Copied"
        />
      </Exhibit>
    </>
  );
}

const links = [
  {
    slug: "winter",
    to: "shop.alder.example/collections/winter-2026",
    tag: "campaign",
    clicks: "8,412",
    last: "12 s ago",
  },
  { slug: "app", to: "alder.example/download", tag: "product", clicks: "6,930", last: "41 s ago" },
  { slug: "summer", to: "shop.alder.example/collections/summer", tag: "campaign", clicks: "512", last: "4 d ago" },
] as const;

function Links() {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [sort, setSort] = useState<"asc" | "desc">("desc");
  const toggle = (slug: string, on: boolean) =>
    setChosen(on ? [...chosen, slug] : chosen.filter((each) => each !== slug));
  return (
    <div>
      <T.Table
        label="Links"
        minWidthPx={1000}
        columns={[38, 228, undefined, 118, 98, 90, 100, 140]}
        selecting={chosen.length > 0}
      >
        <T.TableHead>
          <T.SelectHeadCell
            label="Select all"
            checked={chosen.length === links.length}
            indeterminate={chosen.length > 0 && chosen.length < links.length}
            onCheckedChange={(on) => setChosen(on ? links.map((link) => link.slug) : [])}
          />
          <T.HeadCell>Short link</T.HeadCell>
          <T.HeadCell sort={false} onSort={() => {}}>
            Destination
          </T.HeadCell>
          <T.HeadCell>Tags</T.HeadCell>
          <T.HeadCell>Trend</T.HeadCell>
          <T.HeadCell align="end" sort={sort} onSort={() => setSort(sort === "asc" ? "desc" : "asc")}>
            Clicks
          </T.HeadCell>
          <T.HeadCell align="end">Last click</T.HeadCell>
          <T.HeadCell>Status</T.HeadCell>
        </T.TableHead>
        <T.TableBody>
          {links.map((link, index) => (
            <T.Row key={link.slug} selected={chosen.includes(link.slug)} current={index === 1}>
              <T.SelectCell
                label={`Select ${link.slug}`}
                checked={chosen.includes(link.slug)}
                onCheckedChange={(on) => toggle(link.slug, on)}
              />
              <T.Cell>
                <span className="flex items-center gap-2.5">
                  <LetterTile name={link.to} />
                  <span className="truncate font-medium">
                    <span className="font-normal text-text-3">al.example/</span>
                    {link.slug}
                  </span>
                  <span className={T.revealInRowClass}>
                    <CopyButton text={link.slug} label={`Copy ${link.slug}`} copiedLabel="Copied" />
                  </span>
                </span>
              </T.Cell>
              <T.Cell muted title={link.to}>
                {link.to}
              </T.Cell>
              <T.Cell>
                <Tag>{link.tag}</Tag>
              </T.Cell>
              <T.Cell>
                <Sparkline values={trend} quiet={index === 2} />
              </T.Cell>
              <T.Cell align="end">{link.clicks}</T.Cell>
              <T.Cell align="end" muted>
                {link.last}
              </T.Cell>
              <T.Cell>
                {index === 0 ? <Status tone="warn">84% of quota</Status> : <Status tone="ok">Active</Status>}
              </T.Cell>
            </T.Row>
          ))}
        </T.TableBody>
      </T.Table>
      <T.TableFoot summary="1–3 of 1,246">
        <Button size="sm" disabled>
          Previous
        </Button>
        <Button size="sm">Next</Button>
      </T.TableFoot>
      {chosen.length > 0 && (
        <BulkBar
          label="Selected links"
          summary={`${chosen.length} selected`}
          clearLabel="Clear selection"
          onClear={() => setChosen([])}
        >
          <Button variant="quiet" icon={TagIcon}>
            Tag
          </Button>
          <Button variant="quiet" icon={Pause}>
            Disable
          </Button>
          <BulkSeparator />
          <Button variant="danger" icon={Trash2}>
            Delete
          </Button>
        </BulkBar>
      )}
    </div>
  );
}
