import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Usage } from "../../api/generated.ts";
import { listQuery } from "../../api/queries.ts";
import { formatDay, formatNumber } from "../../format.ts";
import { overviewTexts } from "../../texts/overview.ts";
import { Card, CardTitle } from "../../ui/card.tsx";
import { cx } from "../../ui/class-names.ts";
import { Meter, meterTone } from "../../ui/meter.tsx";
import { ShortAddress } from "../../ui/short-address.tsx";
import { useWorkspace } from "../../workspace.ts";
import { shortly } from "../edit/link-form.ts";
import { Loaded } from "../report/loaded.tsx";
import { CardWaiting } from "./card-waiting.tsx";

const t = overviewTexts.limits;
const refetchMs = 60_000;
const shownMost = 5;
/** Below this, a link is not close to its limit unless its pace says so. */
const closeFrom = 0.8;

type Near = Usage["hitsPerLinkPerMonth"][number];

const isNear = ({ used, limit, spentAt }: Near): boolean =>
  used !== null && limit !== null && limit > 0 && (spentAt !== null || used / limit >= closeFrom);

/** Links that will be full soon, or are. */
export function NearLimits() {
  const { slug, can } = useWorkspace();
  const usage = useQuery({
    ...listQuery(slug, "GET /api/usage"),
    refetchInterval: refetchMs,
    enabled: can("usage:read"),
  });
  if (!can("usage:read")) return null;
  return (
    <Card aria-label={t.title}>
      <CardTitle className="px-4">{t.title}</CardTitle>
      <Loaded query={usage} failed={t.couldNotLoad} waiting={<CardWaiting />}>
        {({ hitsPerLinkPerMonth }) => {
          const near = hitsPerLinkPerMonth.filter(isNear).slice(0, shownMost);
          if (near.length === 0) return <p className="px-4 pb-3.5 text-text-2">{t.empty}</p>;
          return (
            <ul className="pb-1">
              {near.map((use) => (
                <NearLine key={use.link} use={use} />
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Card>
  );
}

function NearLine({ use }: { readonly use: Near }) {
  const { slug } = useWorkspace();
  const { used, limit, spentAt } = use;
  if (used === null || limit === null) return null;
  const tone = meterTone(used, limit);
  const text = t.of(formatNumber(used), limit);
  return (
    <li className="border-t border-line">
      <Link
        to="/w/$workspace/links/$link"
        params={{ workspace: slug, link: use.link }}
        search={{}}
        className="grid gap-1.5 px-4 py-2 hover:bg-hover"
      >
        <span className="flex gap-2">
          <span className="min-w-0 flex-1" title={use.shortUrl}>
            <ShortAddress domain={use.domain} code={use.code} />
          </span>
          <span className={cx("flex-none text-12 leading-5", tone === "bad" ? "text-bad" : "text-warn")}>
            {used >= limit ? t.full : spentAt && t.fullAround(formatDay(spentAt))}
          </span>
        </span>
        <Meter size="sm" label={shortly(use.shortUrl)} used={used} limit={limit} valueText={text} />
        <span className="num text-12 text-text-3">{text}</span>
      </Link>
    </li>
  );
}
