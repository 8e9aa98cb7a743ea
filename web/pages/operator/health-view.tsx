import { useQuery } from "@tanstack/react-query";
import { listQuery } from "../../api/queries.ts";
import { operatorTexts as t } from "../../texts/operator.ts";
import { Card, CardTitle } from "../../ui/card.tsx";
import { Badge, Status } from "../../ui/chip.tsx";
import { Loaded } from "./loaded.tsx";

const refetchMs = 15_000;
const tones = { ready: "ok", degraded: "warn", unready: "bad", ok: "ok", warn: "warn", fail: "bad" } as const;

const names: Readonly<Record<string, string>> = t.dependencies;

export function HealthView() {
  const health = useQuery({ ...listQuery("", "GET /api/operator/health"), refetchInterval: refetchMs });
  return (
    <Loaded query={health}>
      {({ status, dependencies, findings }) => (
        <div className="grid max-w-[820px] gap-4">
          <Card>
            <CardTitle actions={<Badge tone={tones[status]}>{t.healthStates[status]}</Badge>}>
              {t.sections.health}
            </CardTitle>
            <ul>
              {dependencies.map(({ name, ok, ms, error }) => (
                <li key={name} className="flex items-center gap-3 border-t border-line px-3.5 py-2">
                  <Status tone={ok ? "ok" : "bad"}>{names[name] ?? name}</Status>
                  <span className="min-w-0 flex-1 truncate text-text-2">{error}</span>
                  <span className="num text-12 text-text-3">{Math.round(ms)} ms</span>
                </li>
              ))}
            </ul>
          </Card>
          <Card>
            <CardTitle actions={<span className="text-12">{t.checkedBy}</span>}>{t.checks}</CardTitle>
            <ul>
              {findings.map(({ status: found, check, found: text, advice }) => (
                <li key={`${check} ${text}`} className="border-t border-line px-3.5 py-2">
                  <Status tone={tones[found]}>
                    <span className="block first-letter:uppercase">{check}</span>
                  </Status>
                  <p className="text-text-2 first-letter:uppercase">{text}</p>
                  {advice && <p className="text-12 text-text-3">{advice}</p>}
                </li>
              ))}
            </ul>
          </Card>
        </div>
      )}
    </Loaded>
  );
}
