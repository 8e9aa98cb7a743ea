import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { AbuseReport, ClosedReports } from "../../api/generated.ts";
import { listQuery } from "../../api/queries.ts";
import { formatDateTime, formatRelative } from "../../format.ts";
import { operatorTexts as t } from "../../texts/operator.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Badge } from "../../ui/chip.tsx";
import { Empty } from "../../ui/states.tsx";
import { Segmented } from "../../ui/tabs.tsx";
import { Loaded } from "./loaded.tsx";
import { useChange } from "./use-change.ts";

type State = AbuseReport["state"];

export function AbuseReports() {
  const [state, setState] = useState<State>("open");
  const reports = useQuery(listQuery("", "GET /api/operator/abuse", { state }));
  return (
    <>
      <div className="mb-4">
        <Segmented
          label={t.state}
          value={state}
          onValueChange={setState}
          options={(Object.keys(t.abuseStates) as State[]).map((value) => ({ value, label: t.abuseStates[value] }))}
        />
      </div>
      <Loaded query={reports}>
        {({ items }) =>
          items.length === 0 ? (
            <Card>
              <Empty>{t.noAbuse}</Empty>
            </Card>
          ) : (
            <ul className="grid gap-3">
              {items.map((report) => (
                <li key={report.id}>
                  <Report report={report} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </>
  );
}

function Report({ report }: { readonly report: AbuseReport }) {
  const { id, domain, code, reason, details, url, email, state, createdAt } = report;
  const dismiss = useChange(() => call("POST /api/operator/abuse/{id}/dismiss", { path: { id } }), {
    done: () => t.dismissed,
  });
  const suspend = useChange(() => call("POST /api/operator/abuse/{id}/suspend", { path: { id }, body: {} }), {
    done: (result) => t.suspendedLink((result as ClosedReports).closed),
  });
  return (
    <Card padded>
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="font-semibold">
          {domain}/{code}
        </h2>
        <Badge tone="warn">{reason}</Badge>
        <span className="text-12 text-text-3" title={formatDateTime(createdAt)}>
          {t.reportedAt(formatRelative(createdAt))}
          {email && ` · ${email}`}
        </span>
        {state === "open" && (
          <span className="ml-auto flex gap-2">
            <Button size="sm" loading={dismiss.isPending} onClick={() => dismiss.mutate()}>
              {t.dismiss}
            </Button>
            <Button size="sm" variant="danger" loading={suspend.isPending} onClick={() => suspend.mutate()}>
              {t.suspendLink}
            </Button>
          </span>
        )}
      </div>
      {url && <p className="mt-2 break-all text-text-2">{url}</p>}
      {details && <p className="mt-2 whitespace-pre-wrap">{details}</p>}
    </Card>
  );
}
