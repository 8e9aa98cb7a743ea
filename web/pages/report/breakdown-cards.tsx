import type { UseQueryResult } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { ClickReport, Link } from "../../api/generated.ts";
import { reportTexts } from "../../texts/report.ts";
import { Skeleton } from "../../ui/states.tsx";
import { Segmented } from "../../ui/tabs.tsx";
import { BreakdownCard } from "./breakdown-card.tsx";
import { CardPart } from "./card-part.tsx";
import { isChosen } from "./filters.ts";
import type { Subject } from "./report-query.ts";
import type { ReportControls } from "./report-state.ts";
import { variantNames } from "./variant-names.ts";

const WorldMap = lazy(() => import("./map/world-map.tsx").then((module) => ({ default: module.WorldMap })));

const t = reportTexts.cards;

interface BreakdownCardsProps {
  readonly subject: Subject;
  readonly controls: ReportControls;
  readonly query: UseQueryResult<ClickReport>;
  /** Of a report on one link: its destinations have names. */
  readonly link?: Link;
}

/** Where clicks come from, and with what. */
export function BreakdownCards({ subject, controls, query, link }: BreakdownCardsProps) {
  const shared = { subject, controls, query };
  const variants = query.data?.breakdowns.variant;
  const hasVariants = (variants && variants.values.length > 0) || (link && link.rules.length + link.split.length > 0);
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <Sources {...shared} />
      <Countries {...shared} />
      <BreakdownCard
        title={t.devices}
        {...shared}
        tabs={[
          { dimension: "device", label: t.type },
          { dimension: "os", label: t.system },
        ]}
      />
      <BreakdownCard
        title={t.browsers}
        {...shared}
        tabs={[
          { dimension: "browser", label: t.browser },
          { dimension: "language", label: t.language },
        ]}
      />
      {hasVariants && (
        <div className="min-w-0 md:col-span-2">
          <BreakdownCard
            title={t.variants}
            {...shared}
            tabs={[{ dimension: "variant", label: t.variants, ...(link && { nameOf: variantNames(link) }) }]}
          />
        </div>
      )}
    </div>
  );
}

type Shared = Pick<BreakdownCardsProps, "subject" | "controls" | "query">;

function Sources(shared: Shared) {
  const [kind, setKind] = useState<"referrer" | "utm" | "qr">("referrer");
  const tabs = {
    referrer: [{ dimension: "referrer", label: t.referrer }],
    utm: [
      { dimension: "utm_source", label: t.utmSource },
      { dimension: "utm_medium", label: t.utmMedium },
      { dimension: "utm_campaign", label: t.utmCampaign },
    ],
    qr: [{ dimension: "source", label: t.qr }],
  } as const;
  return (
    <BreakdownCard
      key="sources"
      title={t.sources}
      {...shared}
      tabs={tabs[kind]}
      actions={
        <Segmented
          look="text"
          label={t.view(t.sources)}
          value={kind}
          onValueChange={setKind}
          options={[
            { value: "referrer", label: t.referrer },
            { value: "utm", label: t.utm },
            { value: "qr", label: t.qr },
          ]}
        />
      }
    />
  );
}

function Countries(shared: Shared) {
  const [view, setView] = useState<"list" | "map">("list");
  const { query, controls } = shared;
  const has = (name: string) => (query.data?.breakdowns[name]?.values.length ?? 0) > 0;
  const tabs = [
    { dimension: "country" as const, label: t.country },
    ...(has("region") ? [{ dimension: "region" as const, label: t.region }] : []),
    ...(has("city") ? [{ dimension: "city" as const, label: t.city }] : []),
  ];
  return (
    <BreakdownCard
      title={t.countries}
      {...shared}
      tabs={tabs}
      actions={
        <Segmented
          look="text"
          label={t.view(t.countries)}
          value={view}
          onValueChange={setView}
          options={[
            { value: "list", label: t.list },
            { value: "map", label: t.map },
          ]}
        />
      }
      above={
        view === "map"
          ? ({ breakdowns, totals }) =>
              breakdowns.country && (
                <CardPart failed={t.couldNotLoadMap}>
                  <Suspense fallback={<MapWaiting />}>
                    <WorldMap
                      found={breakdowns.country}
                      total={totals.clicks}
                      isChosen={(country) => isChosen(controls.filters, "country", country)}
                      onToggle={(country, exclude) => controls.toggle("country", country, exclude)}
                    />
                  </Suspense>
                </CardPart>
              )
          : undefined
      }
    />
  );
}

/** As high as the map. */
const MapWaiting = () => <Skeleton className="mx-2 mb-2 aspect-[1000/480] h-auto" />;
