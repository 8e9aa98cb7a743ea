import { useQuery } from "@tanstack/react-query";
import { listQuery } from "../../api/queries.ts";
import { formatNumber } from "../../format.ts";
import { operatorTexts as t } from "../../texts/operator.ts";
import { Section } from "../../ui/card.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Loaded } from "./loaded.tsx";

export function PlatformEmail() {
  const email = useQuery(listQuery("", "GET /api/operator/email"));
  return (
    <Loaded query={email}>
      {({ used, limit, kinds, workspaces }) => {
        const text =
          used === null
            ? t.unknown
            : limit === null
              ? formatNumber(used)
              : t.ofLimit(formatNumber(used), formatNumber(limit));
        return (
          <div className="grid max-w-[680px] gap-4">
            <Section title={t.emailTitle} description={t.emailText}>
              <p className="num text-24 font-semibold">{text}</p>
              {used !== null && limit !== null && (
                <Meter label={t.emailTitle} used={used} limit={limit} valueText={text} />
              )}
            </Section>
            <Counts title={t.emailKinds} rows={kinds.map((one) => [one.kind, one.used])} />
            <Counts title={t.emailWorkspaces} rows={workspaces.map((one) => [one.workspace, one.used])} />
          </div>
        );
      }}
    </Loaded>
  );
}

function Counts({ title, rows }: { readonly title: string; readonly rows: readonly (readonly [string, number])[] }) {
  if (rows.length === 0) return null;
  return (
    <Section title={title}>
      <dl className="grid gap-1">
        {rows.map(([name, count]) => (
          <div key={name} className="flex justify-between gap-3">
            <dt className="truncate text-text-2">{name}</dt>
            <dd className="num">{formatNumber(count)}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
