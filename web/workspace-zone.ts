import { useQuery } from "@tanstack/react-query";
import { listQuery } from "./api/queries.ts";
import { useWorkspace } from "./workspace.ts";

/**
 * The zone of the workspace's days, in which reports and trends are counted; undefined until it is known. Without settings there
 * are still reports: the API knows the zone, and only periods that begin some days ago may be off by a day.
 */
export function useWorkspaceZone(): string | undefined {
  const { slug, can } = useWorkspace();
  const { data, isError } = useQuery({
    ...listQuery(slug, "GET /api/stats/settings"),
    enabled: can("stats:read"),
    staleTime: 300_000,
  });
  return data?.timeZone ?? (isError ? "UTC" : undefined);
}
