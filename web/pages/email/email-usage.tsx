import { useQuery } from "@tanstack/react-query";
import type { EmailProviderStats } from "../../api/generated.ts";
import { listQuery } from "../../api/queries.ts";
import { formatNumber } from "../../format.ts";
import { emailTexts as t } from "../../texts/email.ts";
import { Section } from "../../ui/card.tsx";
import { Badge } from "../../ui/chip.tsx";
import { Meter } from "../../ui/meter.tsx";
import { useWorkspace } from "../../workspace.ts";

export function EmailUsage() {
  const { slug } = useWorkspace();
  const { data } = useQuery(listQuery(slug, "GET /api/email/stats"));
  if (data === undefined) return null;
  return (
    <Section title={t.usage} description={t.usageText(data.periodDays)}>
      {data.providers.map((provider) => (
        <Provider key={provider.provider} stats={provider} isCurrent={provider.provider === data.current} />
      ))}
    </Section>
  );
}

const counts = ["sent", "failed", "waiting", "bounced", "complaints", "unsure"] as const;

function Provider({ stats, isCurrent }: { readonly stats: EmailProviderStats; readonly isCurrent: boolean }) {
  const { provider, used, limit } = stats;
  const name = t.providers[provider];
  const text =
    used === null
      ? t.unknown
      : limit === null
        ? t.noLimit(formatNumber(used))
        : t.ofLimit(formatNumber(used), formatNumber(limit));
  return (
    <div className="grid gap-2">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{name}</span>
        {isCurrent && <Badge tone="quiet">{t.current}</Badge>}
        <span className="num ml-auto text-12 text-text-2">{text}</span>
      </p>
      {used !== null && limit !== null && <Meter label={name} used={used} limit={limit} valueText={text} />}
      <dl className="flex flex-wrap gap-x-5 gap-y-1 text-12">
        {counts.map((count) => (
          <div key={count} className="flex gap-1.5">
            <dt className="text-text-3">{t[count]}</dt>
            <dd className="num">{formatNumber(stats[count])}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
