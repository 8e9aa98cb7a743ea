/**
 * Generates ops/grafana/dashboard.json from a table: rows of panels, each with its Prometheus queries. `npm run docs` writes
 * the file, which has two thousand lines.
 */
interface Panel {
  readonly title: string;
  readonly help: string;
  readonly unit: Unit;
  readonly kind?: "timeseries" | "stat";
  /** Expression → legend. */
  readonly ask: Readonly<Record<string, string>>;
  /** The thresholds of the alerts; `below` if small values are bad. */
  readonly alerts?: { readonly warning: number; readonly critical?: number; readonly below?: true };
}

/** Grafana's names. */
type Unit = "reqps" | "ops" | "percentunit" | "s" | "bytes" | "short" | "cpm";

const own = `{job=~"$job",instance=~"$instance"}`;
const ownAnd = (labels: string) => `{job=~"$job",instance=~"$instance",${labels}}`;
const perSecond = (metric: string, by: string) => `sum by (${by}) (rate(${metric}${own}[$__rate_interval]))`;
const quantile = (q: number, metric: string, by: string) =>
  `histogram_quantile(${q}, sum by (le, ${by}) (rate(${metric}_bucket${own}[$__rate_interval])))`;
const lookupsBy = (tier: string) =>
  ["quicklink_cache_hit_total", "quicklink_cache_miss_total"]
    .map((metric) => `sum by (tier) (rate(${metric}${tier}[$__rate_interval]))`)
    .join(" + ");
const shareOfPlaces = `sum by (resource) (quicklink_shares_running${own}) / sum by (resource) (quicklink_shares_places${own})`;

const rows: Readonly<Record<string, readonly Panel[]>> = {
  Redirects: [
    {
      title: "Redirects",
      help: "By outcome. All outcomes except counted, bot, head, prefetch, preview and fallback are error pages.",
      unit: "reqps",
      ask: { [perSecond("quicklink_redirects_total", "outcome")]: "{{outcome}}" },
    },
    {
      title: "Answered with 503",
      help: "Share of all redirects: the link or its limit could not be looked up.",
      unit: "percentunit",
      ask: {
        [`sum(rate(quicklink_redirects_total${ownAnd('outcome="unavailable"')}[$__rate_interval])) / sum(rate(quicklink_redirects_total${own}[$__rate_interval]))`]:
          "503",
      },
    },
    {
      title: "Readiness",
      help: "0 ready, 1 degraded, 2 unready.",
      unit: "short",
      kind: "stat",
      ask: { [`max by (instance) (quicklink_readiness${own})`]: "{{instance}}" },
      alerts: { warning: 1, critical: 2 },
    },
  ],
  Cache: [
    {
      title: "Hit rate",
      help: "Share of the lookups not answered by memory that Redis answered; without Redis, the share that memory answered. Alerts below 90 % and 80 %.",
      unit: "percentunit",
      ask: {
        [`sum by (tier) (rate(quicklink_cache_hit_total${own}[$__rate_interval])) / (${lookupsBy(own)})`]: "{{tier}}",
      },
      alerts: { warning: 0.9, critical: 0.8, below: true },
    },
    {
      title: "Lookups by tier",
      help: "Answered by memory, by Redis, or by SQL with the reason.",
      unit: "ops",
      ask: {
        [perSecond("quicklink_cache_hit_total", "tier")]: "{{tier}}",
        [perSecond("quicklink_cache_miss_total", "tier")]: "SQL, after {{tier}}",
        [perSecond("quicklink_cache_miss_reasons_total", "why")]: "SQL, Redis: {{why}}",
      },
    },
    {
      title: "Fallbacks to SQL",
      help: "Share of the lookups not answered by memory that went to SQL because Redis did not answer or could not be trusted. Alerts above 10 % and 25 %.",
      unit: "percentunit",
      ask: {
        [`sum(rate(quicklink_cache_miss_reasons_total${ownAnd('why=~"untrusted|failed"')}[$__rate_interval])) / sum(${lookupsBy(ownAnd('tier="redis"'))})`]:
          "SQL instead of Redis",
      },
      alerts: { warning: 0.1, critical: 0.25 },
    },
    {
      title: "Nonexistent codes in Redis",
      help: "Estimated from writes: each entry lives for five minutes. Alerts above 1 and 5 million.",
      unit: "short",
      ask: { [`sum(increase(quicklink_cache_events_total${ownAnd('event="missing_written"')}[5m]))`]: "keys" },
      alerts: { warning: 1_000_000, critical: 5_000_000 },
    },
    {
      title: "Entries in memory",
      help: "Links, nonexistent codes and limits in the memory of all processes.",
      unit: "short",
      ask: {
        [`sum(quicklink_cache_links${own})`]: "links",
        [`sum(quicklink_cache_missing${own})`]: "nonexistent codes",
        [`sum(quicklink_meters${own})`]: "limits",
      },
    },
    {
      title: "Cache events",
      help: "shed: answered 503 because too many lookups waited for SQL.",
      unit: "ops",
      ask: { [perSecond("quicklink_cache_events_total", "event")]: "{{event}}" },
    },
  ],
  Coherence: [
    {
      title: "Age of the change feed",
      help: "Time since the change feed was last read to its end. Alerts above 1.5 s and 10 s.",
      unit: "s",
      ask: { [`max by (instance) (quicklink_feed_age_seconds${own})`]: "{{instance}}" },
      alerts: { warning: 1.5, critical: 10 },
    },
    {
      title: "Replica lag",
      help: "Age of the last commit on the replica (DATABASE_REPLICA_URL); up to two seconds are normal. Alerts above 10 s and 60 s.",
      unit: "s",
      ask: { [`max by (instance) (quicklink_replica_lag_seconds${own})`]: "{{instance}}" },
      alerts: { warning: 10, critical: 60 },
    },
    {
      title: "Change lag",
      help: "Time from a change on another server until this server knows of it.",
      unit: "s",
      ask: {
        [quantile(0.5, "quicklink_feed_lag_seconds", "job")]: "median",
        [quantile(0.99, "quicklink_feed_lag_seconds", "job")]: "p99",
      },
    },
    {
      title: "Stale answers and rejected fills",
      help: "Answers that may be out of date, and reads that were rejected because they were.",
      unit: "ops",
      ask: {
        [`sum by (event) (rate(quicklink_cache_events_total${ownAnd('event=~"stale|fill_rejected"')}[$__rate_interval]))`]:
          "{{event}}",
      },
    },
  ],
  Email: [
    {
      title: "Emails",
      help: "Attempts to send an email, by outcome. Attempts that are limited, deferred or unavailable are repeated.",
      unit: "ops",
      ask: { [perSecond("quicklink_emails_total", "provider, outcome")]: "{{provider}} {{outcome}}" },
    },
    {
      title: "Waiting emails",
      help: "All emails in the outbox, for any reason; at most 10,000 are counted.",
      unit: "short",
      ask: { [`max(quicklink_emails_waiting${own})`]: "waiting" },
    },
    {
      title: "Oldest late email",
      help: "How long ago it should have been sent. Alerts above five minutes.",
      unit: "s",
      ask: { [`max(quicklink_email_late_seconds${own})`]: "late" },
      alerts: { warning: 300 },
    },
    {
      title: "Platform email limit",
      help: "Emails of all workspaces through SMTP_URL in the last hour, as a share of the limit for ordinary mail: four fifths of QL_EMAILS_PER_HOUR. Above 100 % only verification and password resets are sent. Alerts above 80 % and at 100 %.",
      unit: "percentunit",
      ask: {
        [`max(quicklink_platform_emails_used${own}) / max(quicklink_platform_emails_limit${ownAnd('mail="ordinary"')})`]:
          "used",
      },
      alerts: { warning: 0.8, critical: 1 },
    },
  ],
  Limits: [
    {
      title: "Hit limits",
      help: "0 normal, 1 enforced by SQL because Redis is unavailable, 2 as QL_HITS_OUTAGE says.",
      unit: "short",
      kind: "stat",
      ask: { [`max by (instance) (quicklink_hit_limits_state${own})`]: "{{instance}}" },
      alerts: { warning: 1, critical: 2 },
    },
    {
      title: "Leases",
      help: "Leases of hits that processes requested, by who issued them.",
      unit: "ops",
      ask: { [perSecond("quicklink_leases_total", "by")]: "{{by}}" },
    },
    {
      title: "Guessers",
      help: "Addresses that have to wait because they requested too many nonexistent codes or keys.",
      unit: "short",
      ask: { [`sum by (instance) (quicklink_guessers${own})`]: "{{instance}}" },
    },
    {
      title: "Hits cannot be written",
      help: "1 while a process keeps hits in memory because the database refuses them.",
      unit: "short",
      kind: "stat",
      ask: { [`max by (instance) (quicklink_recorder_failing${own})`]: "{{instance}}" },
      alerts: { warning: 1, critical: 1 },
    },
  ],
  Clicks: [
    {
      title: "Captured clicks",
      help: "By what is kept: facts; bare, only counted because there is no room for facts; dropped, not even counted; excluded, visits of people who excluded themselves.",
      unit: "ops",
      ask: { [perSecond("quicklink_clicks_captured_total", "kept")]: "{{kept}}" },
    },
    {
      title: "Recorded clicks",
      help: "Stored as single clicks (event), as counts beyond the cap (overflow), or as a declared number (dropped, excluded).",
      unit: "ops",
      ask: { [perSecond("quicklink_clicks_recorded_total", "as")]: "{{as}}" },
    },
    {
      title: "Clicks without facts or room",
      help: "In five minutes: clicks that were only counted, or dropped. Alerts above 0.",
      unit: "short",
      ask: {
        [`sum by (instance, kept) (increase(quicklink_clicks_captured_total${ownAnd('kept=~"bare|dropped"')}[5m]))`]:
          "{{instance}}: {{kept}}",
      },
    },
    {
      title: "Clicks cannot be written",
      help: "1 while a process keeps clicks in memory because the database refuses them.",
      unit: "short",
      kind: "stat",
      ask: { [`max by (instance) (quicklink_clicks_failing${own})`]: "{{instance}}" },
      alerts: { warning: 1 },
    },
    {
      title: "Waiting clicks",
      help: "Captured and not yet written. Each process has room for about 200,000.",
      unit: "short",
      ask: { [`sum by (instance) (quicklink_clicks_waiting${own})`]: "{{instance}}" },
    },
    {
      title: "Unusual clicks",
      help: "Late, too late to recognise their visitor, after too many visitors of a workspace on one day (unrecognised), or with a time that was corrected.",
      unit: "ops",
      ask: { [perSecond("quicklink_clicks_unusual_total", "kind")]: "{{kind}}" },
    },
    {
      title: "Live streams",
      help: "Open streams of live clicks.",
      unit: "short",
      ask: { [`sum by (instance) (quicklink_live_streams${own})`]: "{{instance}}" },
    },
    {
      title: "Live streams that ended",
      help: "In ten minutes. left: by the client; ended: by the server; cut: the client read too slowly. Alerts above 20 that were cut.",
      unit: "short",
      ask: { [`sum by (end) (increase(quicklink_live_streams_ended_total${own}[10m]))`]: "{{end}}" },
      alerts: { warning: 20 },
    },
  ],
  API: [
    {
      title: "Rate limits",
      help: "API calls by result. All results except granted and denied mean that Redis did not answer.",
      unit: "ops",
      ask: { [perSecond("quicklink_api_limit_total", "answer")]: "{{answer}}" },
    },
    {
      title: "Requests",
      help: "By method and status.",
      unit: "reqps",
      ask: { [perSecond("quicklink_api_request_seconds_count", "method, status")]: "{{method}} {{status}}" },
    },
    {
      title: "Duration",
      help: "Median and 99th percentile.",
      unit: "s",
      ask: {
        [quantile(0.5, "quicklink_api_request_seconds", "job")]: "median",
        [quantile(0.99, "quicklink_api_request_seconds", "job")]: "p99",
      },
    },
  ],
  Files: [
    {
      title: "Uploads",
      help: "Uploads to this server, by outcome; none with S3_URL. Alerts on full.",
      unit: "ops",
      ask: { [perSecond("quicklink_uploads_total", "outcome")]: "{{outcome}}" },
    },
    {
      title: "Places in use",
      help: "Share of the places for uploads, downloads, long work, password checks and outgoing requests.",
      unit: "percentunit",
      ask: { [shareOfPlaces]: "{{resource}}" },
    },
    {
      title: "Refused callers",
      help: "Requests that got 503 because all places were taken, by resource. Alerts above 100 in 10 minutes.",
      unit: "ops",
      ask: { [perSecond("quicklink_shares_refused_total", "resource")]: "{{resource}}" },
    },
    {
      title: "Downloads",
      help: "Downloads from this server, by outcome; none with S3_URL.",
      unit: "ops",
      ask: { [perSecond("quicklink_downloads_total", "outcome")]: "{{outcome}}" },
    },
    {
      title: "Bytes per second",
      help: "Uploads by result, and downloads that were started.",
      unit: "bytes",
      ask: {
        [perSecond("quicklink_upload_bytes_total", "fate")]: "uploads {{fate}}",
        [perSecond("quicklink_download_bytes_total", "outcome")]: "downloads {{outcome}}",
      },
    },
    {
      title: "Storage sync",
      help: "Difference in workspaces' storage usage at the last sync, and mismatched files. Alerts on all except orphans.",
      unit: "short",
      ask: {
        [`max(quicklink_storage_drift_bytes${own})`]: "drift, bytes",
        [`max(quicklink_storage_orphans${own})`]: "objects without a file",
        [`max(quicklink_storage_lost${own})`]: "files without an object",
        [`max(quicklink_files_unswept${own})`]: "not yet removed",
      },
    },
  ],
  Redis: [
    {
      title: "Command latency (p99)",
      help: "From request to answer or timeout. Alerts above 5 ms and 20 ms.",
      unit: "s",
      ask: { [quantile(0.99, "redis_command_duration_seconds", "use, command")]: "{{use}} {{command}}" },
      alerts: { warning: 0.005, critical: 0.02 },
    },
    {
      title: "Commands",
      help: "Per second, by use and command.",
      unit: "ops",
      ask: { [perSecond("redis_command_duration_seconds_count", "use, command")]: "{{use}} {{command}}" },
    },
    {
      title: "Memory",
      help: "Share of maxmemory. Alerts above 70 % and 85 %.",
      unit: "percentunit",
      ask: {
        [`max by (use, node) (redis_memory_used_bytes${own}) / (max by (use, node) (redis_memory_max_bytes${own}) > 0)`]:
          "{{node}} {{use}}",
      },
      alerts: { warning: 0.7, critical: 0.85 },
    },
    {
      title: "Evicted keys per minute",
      help: "Alerts above 100 and 1,000.",
      unit: "cpm",
      ask: {
        [`max by (use, node) (rate(redis_evicted_keys_total${own}[$__rate_interval])) * 60`]: "{{node}} {{use}}",
      },
      alerts: { warning: 100, critical: 1_000 },
    },
    {
      title: "Circuit breakers",
      help: "1 while open: the dependency is not used.",
      unit: "short",
      ask: { [`max by (of, instance) (quicklink_breaker_open${own})`]: "{{of}} {{instance}}" },
      alerts: { warning: 1 },
    },
    {
      title: "Dependencies",
      help: "1 if the last check succeeded.",
      unit: "short",
      ask: { [`min by (dependency, instance) (quicklink_dependency_up${own})`]: "{{dependency}} {{instance}}" },
    },
  ],
  Process: [
    {
      title: "Processes",
      help: "Processes that use the database, and processes that Prometheus scrapes.",
      unit: "short",
      ask: {
        [`max(quicklink_instances${own})`]: "on the database",
        [`sum(quicklink_workers${own})`]: "scraped",
      },
    },
    {
      title: "CPU",
      help: "Cores used by all processes of an instance.",
      unit: "short",
      ask: { [perSecond("process_cpu_seconds_total", "instance")]: "{{instance}}" },
    },
    {
      title: "Memory",
      help: "Resident memory of all processes of an instance.",
      unit: "bytes",
      ask: { [`sum by (instance) (process_resident_memory_bytes${own})`]: "{{instance}}" },
    },
    {
      title: "Jobs: time since the last success",
      help: "In intervals of each job. Alerts when it is more than three of them and five minutes.",
      unit: "short",
      ask: {
        [`max by (job_name) ((time() - quicklink_job_last_success_timestamp_seconds${own}) / quicklink_job_interval_seconds${own})`]:
          "{{job_name}}",
      },
    },
    {
      title: "Jobs: failures",
      help: "Failed runs an hour, late ones included.",
      unit: "short",
      ask: { [`sum by (job_name) (increase(quicklink_job_failures_total${own}[1h]))`]: "{{job_name}}" },
    },
    {
      title: "Jobs: duration",
      help: "Of the last run.",
      unit: "s",
      ask: { [`max by (job_name) (quicklink_job_duration_seconds${own})`]: "{{job_name}}" },
    },
  ],
};

const datasource = { type: "prometheus", uid: "$datasource" };
const panelsAcross = 3;
const [width, height] = [24 / panelsAcross, 8];

export function describeDashboard(): string {
  return `${JSON.stringify(
    {
      title: "QuickLink",
      uid: "quicklink",
      tags: ["quicklink"],
      schemaVersion: 39,
      version: 1,
      editable: true,
      graphTooltip: 1,
      refresh: "30s",
      time: { from: "now-3h", to: "now" },
      annotations: { list: [] },
      templating: { list: variables() },
      panels: panels(),
    },
    null,
    2,
  )}\n`;
}

function variables() {
  const choice = (name: string, label: string, from: string) => ({
    type: "query",
    name,
    label,
    datasource,
    definition: from,
    query: { query: from, refId: name },
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: ".*",
    current: { text: ["All"], value: ["$__all"] },
  });
  return [
    { type: "datasource", name: "datasource", label: "Prometheus", query: "prometheus", current: {} },
    choice("job", "Job", "label_values(quicklink_workers, job)"),
    choice("instance", "Instance", 'label_values(quicklink_workers{job=~"$job"}, instance)'),
  ];
}

function panels() {
  let y = 0;
  let id = 0;
  return Object.entries(rows).flatMap(([title, row]) => {
    const head = { id: ++id, type: "row", title, collapsed: false, gridPos: { x: 0, y: y++, w: 24, h: 1 }, panels: [] };
    const top = y;
    y += Math.ceil(row.length / panelsAcross) * height;
    return [
      head,
      ...row.map((panel, place) => {
        const gridPos = { x: (place % panelsAcross) * width, y: top + Math.floor(place / panelsAcross) * height };
        return { id: ++id, ...describePanel(panel), gridPos: { ...gridPos, w: width, h: height } };
      }),
    ];
  });
}

function describePanel({ title, help, unit, kind = "timeseries", ask, alerts }: Panel) {
  const lines = kind === "timeseries" && alerts !== undefined ? { thresholdsStyle: { mode: "dashed" } } : {};
  return {
    type: kind,
    title,
    description: help,
    datasource,
    fieldConfig: {
      defaults: { unit, min: 0, custom: lines, ...(alerts && { thresholds: thresholds(alerts) }) },
      overrides: [],
    },
    options:
      kind === "stat"
        ? { colorMode: "background", reduceOptions: { calcs: ["lastNotNull"] } }
        : { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi" } },
    targets: Object.entries(ask).map(([expr, legendFormat], place) => ({
      refId: String.fromCharCode(65 + place),
      datasource,
      expr,
      legendFormat,
    })),
  };
}

function thresholds({ warning, critical, below }: NonNullable<Panel["alerts"]>) {
  const [good, bad, worse] = ["green", "orange", "red"];
  const steps = below
    ? [
        { color: worse, value: null },
        { color: bad, value: critical },
        { color: good, value: warning },
      ]
    : [
        { color: good, value: null },
        { color: bad, value: warning },
        ...(critical === undefined ? [] : [{ color: worse, value: critical }]),
      ];
  return { mode: "absolute", steps };
}
