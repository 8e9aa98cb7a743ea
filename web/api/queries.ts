import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { ApiError, call, type QueryOf, type ResultOf, type RouteName } from "./call.ts";

/**
 * What the dashboard reads. A key begins with the route, so that a change of links can refresh everything about links:
 * `refresh(queries, "/api/links")`.
 */
export const accountQuery = queryOptions({
  queryKey: ["/api/account"],
  queryFn: ({ signal }) => call("GET /api/account", { signal }),
  staleTime: 30_000,
  retry: false,
});

/** Reads a route of the current workspace without a path parameter. */
export const listQuery = <Name extends RouteName>(workspace: string, name: Name, query?: QueryOf<Name>) =>
  queryOptions({
    queryKey: [pathOf(name), workspace, query ?? {}],
    queryFn: ({ signal }): Promise<ResultOf<Name>> =>
      (call as (name: Name, options: object) => Promise<ResultOf<Name>>)(name, { signal, query }),
  });

export const linkQuery = (workspace: string, id: string) =>
  queryOptions({
    queryKey: ["/api/links", workspace, id],
    queryFn: ({ signal }) => call("GET /api/links/{id}", { path: { id }, signal }),
  });

const pathOf = (name: RouteName): string => name.slice(name.indexOf(" ") + 1);

/** The sidebar shows how many there are, and what is left of their limits. */
const countedInUsage: readonly string[] = ["/api/links", "/api/trash", "/api/files", "/api/domains"];

/** Everything that was read below this path is read again where it is shown, and the usage if it counts there. */
export function refresh(queries: QueryClient, ...paths: readonly string[]): Promise<void> {
  const all = paths.some((path) => countedInUsage.includes(path)) ? [...paths, "/api/usage"] : paths;
  return queries.invalidateQueries({
    predicate: ({ queryKey: [path] }) => all.some((one) => typeof path === "string" && path.startsWith(one)),
  });
}

const triesMost = 3;

/** Only what may pass by itself is tried again. */
export function isWorthRetrying(failures: number, error: Error): boolean {
  if (!(error instanceof ApiError)) return false;
  const passes = error.code === "offline" || error.status === 503 || error.status === 502;
  return passes && failures < triesMost;
}
