import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { ApiError, callsForWorkspace } from "./api/call.ts";
import { accountQuery } from "./api/queries.ts";
import { parseSearch, stringifySearch } from "./search.ts";
import { NotFound, PageError } from "./shell/page-error.tsx";
import { toSignIn } from "./to-sign-in.ts";

/**
 * All addresses of the dashboard. Each page is loaded when it is first opened. Everything of a workspace is below
 * `/w/{slug}`, so that every address can be sent to somebody else of it. Pages for people who are not signed in are a program
 * of their own: `visitor.tsx`.
 */
export interface RouterContext {
  readonly queries: QueryClient;
}

export type Search = Readonly<Record<string, string | readonly string[] | undefined>>;

const asIs = (search: Record<string, unknown>): Search => search as Search;

const root = createRootRouteWithContext<RouterContext>()({
  component: Outlet,
  validateSearch: asIs,
  notFoundComponent: NotFound,
  errorComponent: PageError,
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  async beforeLoad({ context, location }) {
    const { workspaces } = await signedIn(context.queries, location.href);
    const chosen = workspaces.find((one) => one.chosen) ?? workspaces[0];
    if (chosen === undefined) throw redirect({ to: "/account", search: {} });
    throw redirect({ to: "/w/$workspace", params: { workspace: chosen.slug }, search: {} });
  },
});

/** Set by `web/bundle.ts`. */
declare const __QUICKLINK_DEV__: boolean;

const design = __QUICKLINK_DEV__
  ? [
      createRoute({
        getParentRoute: () => root,
        path: "/design",
        component: lazyRouteComponent(() => import("./pages/design.tsx"), "DesignPage"),
      }),
    ]
  : [];

/** For one person, whatever the workspace. */
const personal = createRoute({
  getParentRoute: () => root,
  id: "personal",
  async beforeLoad({ context, location }) {
    callsForWorkspace(undefined);
    await signedIn(context.queries, location.href);
  },
  component: lazyRouteComponent(() => import("./shell/shell.tsx"), "PersonalShell"),
});
const account = createRoute({
  getParentRoute: () => personal,
  path: "/account",
  component: lazyRouteComponent(() => import("./pages/account/account-page.tsx"), "AccountPage"),
});
const operator = createRoute({
  getParentRoute: () => personal,
  path: "/operator",
  component: lazyRouteComponent(() => import("./pages/operator/operator-page.tsx"), "OperatorPage"),
});
const operatorSection = createRoute({
  getParentRoute: () => personal,
  path: "/operator/$section",
  component: lazyRouteComponent(() => import("./pages/operator/operator-page.tsx"), "OperatorPage"),
});

const workspace = createRoute({
  getParentRoute: () => root,
  path: "/w/$workspace",
  async beforeLoad({ context, location, params }) {
    const { workspaces } = await signedIn(context.queries, location.href);
    const found = workspaces.find(({ slug }) => slug === params.workspace);
    if (found === undefined) throw new ApiError(undefined, undefined, "no_workspace");
    callsForWorkspace(found.slug);
    return { workspace: found };
  },
  component: lazyRouteComponent(() => import("./shell/shell.tsx"), "WorkspaceShell"),
});

const page = <Path extends string>(path: Path, component: Parameters<typeof lazyRouteComponent>[0], name: string) =>
  createRoute({
    getParentRoute: () => workspace,
    path,
    component: lazyRouteComponent(component as () => Promise<Record<string, () => React.ReactNode>>, name),
  });

const overview = page("/", () => import("./pages/overview/overview-page.tsx"), "OverviewPage");
const start = page("/start", () => import("./pages/start/start-page.tsx"), "StartPage");
const links = page("/links", () => import("./pages/links/links-page.tsx"), "LinksPage");
const trash = page("/links/trash", () => import("./pages/links/trash-page.tsx"), "TrashPage");
const replace = page("/links/replace", () => import("./pages/links/replace-page.tsx"), "ReplacePage");
const link = page("/links/$link", () => import("./pages/link/link-page.tsx"), "LinkPage");
const tags = page("/tags", () => import("./pages/tags/tags-page.tsx"), "TagsPage");
const files = page("/files", () => import("./pages/files/files-page.tsx"), "FilesPage");
const domains = page("/domains", () => import("./pages/domains/domains-page.tsx"), "DomainsPage");
const imports = page("/import", () => import("./pages/import/import-page.tsx"), "ImportPage");
const usage = page("/usage", () => import("./pages/usage/usage-page.tsx"), "UsagePage");
const members = page("/members", () => import("./pages/members/members-page.tsx"), "MembersPage");
const settings = page("/settings", () => import("./pages/settings/settings-page.tsx"), "SettingsPage");
const keys = page("/settings/keys", () => import("./pages/keys/keys-page.tsx"), "KeysPage");
const email = page("/settings/email", () => import("./pages/email/email-page.tsx"), "EmailPage");
const shares = page("/settings/shares", () => import("./pages/shares/shares-page.tsx"), "SharesPage");
const audit = page("/settings/log", () => import("./pages/log/log-page.tsx"), "LogPage");

const routeTree = root.addChildren([
  home,
  ...design,
  personal.addChildren([account, operator, operatorSection]),
  workspace.addChildren([
    overview,
    start,
    links,
    trash,
    replace,
    link,
    tags,
    files,
    domains,
    imports,
    usage,
    members,
    settings,
    keys,
    email,
    shares,
    audit,
  ]),
]);

/** The account of the person who is signed in; else to the sign-in, and back to this address afterwards. */
async function signedIn(queries: QueryClient, href: string) {
  try {
    return await queries.ensureQueryData(accountQuery);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    return await toSignIn(href);
  }
}

export function createAppRouter(queries: QueryClient) {
  return createRouter({
    routeTree,
    basepath: "/app",
    context: { queries },
    parseSearch,
    stringifySearch,
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    // Fast pages show no flicker; LOOK: nothing for 200 ms.
    defaultPendingMs: 200,
    defaultErrorComponent: PageError,
    defaultNotFoundComponent: NotFound,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
