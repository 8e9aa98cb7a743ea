import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listQuery } from "../api/queries.ts";
import { formatBytes, formatDay, formatNumber } from "../format.ts";
import { shellTexts as t } from "../texts/shell.ts";
import { MeterLine } from "../ui/meter.tsx";
import { useWorkspace } from "../workspace.ts";
import { pages } from "./pages.ts";
import { WorkspaceMenu } from "./workspace-menu.tsx";

const item =
  "flex h-[31px] items-center gap-2.5 rounded-2 px-2 text-text-2 hover:bg-hover hover:text-text data-[status=active]:bg-pressed data-[status=active]:font-medium data-[status=active]:text-text max-md:justify-center max-md:px-0";

export function Sidebar() {
  const { slug, can } = useWorkspace();
  const counts = useCounts();
  return (
    <aside className="sticky top-0 flex h-dvh flex-col border-r border-line bg-bg px-2.5 py-2 max-sm:hidden">
      <WorkspaceMenu />
      <nav aria-label={t.mainNavigation} className="mt-2 flex-1 overflow-y-auto">
        {(["main", "rest"] as const).map((group) => (
          <ul key={group} className="mb-3.5 grid gap-px">
            {pages
              .filter((page) => page.group === group && can(page.needs))
              .map(({ to, name, icon: Icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    params={{ workspace: slug }}
                    search={{}}
                    activeOptions={{ exact: to === "/w/$workspace", includeSearch: false }}
                    className={item}
                    title={name}
                    aria-description={counts[to]}
                  >
                    <Icon className="size-4 shrink-0" />
                    <span className="truncate max-md:sr-only">{name}</span>
                    {/* Drawn: the name of the link stays that of the page, and its description is the number. */}
                    <span
                      aria-hidden
                      data-count={counts[to] ?? ""}
                      className="num ml-auto text-12 font-normal text-text-3 before:content-[attr(data-count)] max-md:hidden"
                    />
                  </Link>
                </li>
              ))}
          </ul>
        ))}
      </nav>
      {can("usage:read") && <Meters />}
    </aside>
  );
}

/** Changes of others show after a minute, own ones at once: what changes links, files or domains reads it again. */
const rereadMs = 60_000;

function useUsage() {
  const { slug, can } = useWorkspace();
  const { data } = useQuery({
    ...listQuery(slug, "GET /api/usage"),
    ...{ enabled: can("usage:read"), staleTime: rereadMs, refetchInterval: rereadMs },
  });
  return data;
}

/** How much there is behind an entry. */
function useCounts(): Readonly<Record<string, string | undefined>> {
  const contents = useUsage()?.contents;
  if (contents === undefined) return {};
  const { links, files, domains, isPartial } = contents;
  return {
    "/w/$workspace/links": isPartial ? t.moreThan(formatNumber(links)) : formatNumber(links),
    "/w/$workspace/files": formatNumber(files),
    "/w/$workspace/domains": formatNumber(domains),
  };
}

/** The two limits that people meet first. */
function Meters() {
  const { slug } = useWorkspace();
  const data = useUsage();
  const links = data?.limits.find(({ name }) => name === "linksPerMonth");
  const storage = data?.limits.find(({ name }) => name === "storageBytes");
  const line = (use: typeof links, label: string, format: (value: number) => string) =>
    use &&
    use.used !== null &&
    use.limit !== null && (
      <MeterLine
        label={label}
        used={use.used}
        limit={use.limit}
        valueText={t.ofLimit(format(use.used), format(use.limit))}
        figure={
          <>
            <b>{format(use.used)}</b> {t.of(format(use.limit))}
          </>
        }
      />
    );
  const isShown = [links, storage].some((use) => use !== undefined && use.limit !== null);
  if (!isShown) return null;
  return (
    <Link
      to="/w/$workspace/usage"
      params={{ workspace: slug }}
      search={{}}
      className="grid gap-3 rounded-2 p-2 max-md:hidden"
    >
      {line(links, t.newLinksThisMonth, formatNumber)}
      {line(storage, t.storage, formatBytes)}
      {links?.resetsAt && links.limit !== null && (
        <p className="text-12 text-text-3">{t.linksReset(formatDay(links.resetsAt))}</p>
      )}
    </Link>
  );
}
