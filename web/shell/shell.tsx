import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import Ban from "lucide-react/icons/ban";
import CircleHelp from "lucide-react/icons/circle-help";
import Lock from "lucide-react/icons/lock";
import Plus from "lucide-react/icons/plus";
import Search from "lucide-react/icons/search";
import { lazy, Suspense, useState } from "react";
import { ApiError } from "../api/call.ts";
import { accountQuery, listQuery } from "../api/queries.ts";
import { isMac, useShortcuts } from "../keys.ts";
import { ProofProvider } from "../proof.tsx";
import { shellTexts as t } from "../texts/shell.ts";
import { Button, buttonClass, IconButton } from "../ui/button.tsx";
import { Kbd } from "../ui/chip.tsx";
import { Logo } from "../ui/logo.tsx";
import { OfflineReason } from "../ui/offline.ts";
import { Empty, OfflineBar } from "../ui/states.tsx";
import { ToastProvider } from "../ui/toast.tsx";
import { TooltipProvider } from "../ui/tooltip.tsx";
import { useWorkspace } from "../workspace.ts";
import { AccountMenu } from "./account-menu.tsx";
import { BottomTabs } from "./bottom-tabs.tsx";
import { useLinkDrawer } from "./link-drawer.ts";
import { neededAt } from "./pages.ts";
import { Sidebar } from "./sidebar.tsx";
import { useIsOffline } from "./use-is-offline.ts";

const Palette = lazy(() => import("./palette.tsx").then((module) => ({ default: module.Palette })));
const ShortcutHelp = lazy(() => import("./shortcut-help.tsx").then((module) => ({ default: module.ShortcutHelp })));
const LinkDrawer = lazy(() =>
  import("../pages/edit/link-drawer.tsx").then((module) => ({ default: module.LinkDrawer })),
);

/** The frame of all pages of a workspace: sidebar, top bar, page. Below 640 px tabs at the bottom take their place. */
export function WorkspaceShell() {
  const { can, slug } = useWorkspace();
  const [open, setOpen] = useState<"palette" | "help">();
  const navigate = useNavigate();
  const drawer = useLinkDrawer();
  const { pathname } = useLocation();
  const isStart = pathname.endsWith("/start");
  const needed = neededAt(pathname);
  const isAllowed = needed === undefined || can(needed);
  const closed = useClosed(slug);
  const go = (to: "" | "/links" | "/files" | "/domains" | "/usage" | "/members" | "/settings") => () =>
    void navigate({ to: `/w/$workspace${to}`, params: { workspace: slug }, search: {} });

  useShortcuts([
    { keys: "mod+k", whileTyping: true, run: () => setOpen("palette") },
    { keys: "?", run: () => setOpen("help") },
    ...(can("links:write") ? [{ keys: "n", run: () => drawer.create() }] : []),
    { keys: "g o", run: go("") },
    { keys: "g l", run: go("/links") },
    { keys: "g f", run: go("/files") },
    { keys: "g d", run: go("/domains") },
    { keys: "g u", run: go("/usage") },
    { keys: "g m", run: go("/members") },
    ...(can("admin") ? [{ keys: "g s", run: go("/settings") }] : []),
  ]);

  return (
    <Frame>
      {isStart ? (
        <>
          <Offline isOnTop />
          <Outlet />
        </>
      ) : (
        <div className="sm:grid sm:grid-cols-[56px_minmax(0,1fr)] md:grid-cols-[var(--sidebar)_minmax(0,1fr)]">
          <Sidebar />
          <div className="flex min-h-dvh min-w-0 flex-col max-sm:pt-[var(--topbar)] max-sm:pb-[calc(72px+env(safe-area-inset-bottom))]">
            <header className="sticky top-0 z-20 flex h-[var(--topbar)] items-center gap-2 border-b border-line bg-bg px-6 max-sm:hidden">
              <button
                type="button"
                onClick={() => setOpen("palette")}
                className="flex h-8 w-full max-w-[360px] items-center gap-2 rounded-2 border border-line-strong bg-surface px-2.5 text-text-3 hover:bg-hover"
              >
                <Search className="size-3.5" aria-hidden />
                <span className="flex-1 truncate text-left">{t.search}</span>
                <Kbd>{isMac ? "⌘K" : "Ctrl K"}</Kbd>
              </button>
              <span className="flex-1" />
              <IconButton icon={CircleHelp} label={t.help} shortcut="?" onClick={() => setOpen("help")} />
              {can("links:write") && !closed && (
                <Button variant="primary" icon={Plus} kbd="N" onClick={() => drawer.create()}>
                  {t.newLink}
                </Button>
              )}
              <AccountMenu />
            </header>
            <Offline />
            <Page>
              {closed ? <Closed why={closed} /> : isAllowed ? <Outlet /> : <Empty icon={Lock}>{t.notAllowed}</Empty>}
            </Page>
          </div>
          <BottomTabs onSearch={() => setOpen("palette")} />
        </div>
      )}
      <Suspense>
        {open === "palette" && <Palette onClose={() => setOpen(undefined)} onHelp={() => setOpen("help")} />}
        {open === "help" && <ShortcutHelp onClose={() => setOpen(undefined)} />}
        {drawer.isOpen && (drawer.id !== undefined || can("links:write")) && <LinkDrawer />}
      </Suspense>
    </Frame>
  );
}

/** Why nothing of the workspace can be read: it is suspended or deleted. The sidebar reads the same. */
function useClosed(slug: string): string | undefined {
  const { error } = useQuery({ ...listQuery(slug, "GET /api/usage"), staleTime: 60_000 });
  return error instanceof ApiError && error.code === "suspended" ? error.message : undefined;
}

/** Said once, instead of in every card. */
function Closed({ why }: { readonly why: string }) {
  return (
    <>
      <h1 className="sr-only">{t.closed}</h1>
      <Empty
        icon={Ban}
        action={
          <Link to="/account" search={{}} hash="workspaces" className={buttonClass()}>
            {t.yourWorkspaces}
          </Link>
        }
      >
        {why}
      </Empty>
    </>
  );
}

/** For the account and the operator's pages, which belong to no workspace. */
export function PersonalShell() {
  const { data: account } = useQuery(accountQuery);
  const chosen = account?.workspaces.find((one) => one.chosen) ?? account?.workspaces[0];
  return (
    <Frame>
      <header className="sticky top-0 z-20 flex h-[var(--topbar)] items-center gap-3 border-b border-line bg-bg px-6 max-sm:px-4">
        <Link to="/" search={{}} className="touch flex rounded-1">
          <Logo name={t.product} />
        </Link>
        <span className="flex-1" />
        {chosen && (
          <Link
            to="/w/$workspace"
            params={{ workspace: chosen.slug }}
            search={{}}
            className={buttonClass({ variant: "quiet", className: "max-sm:hidden" })}
          >
            {t.backToWorkspace}
          </Link>
        )}
        <AccountMenu />
      </header>
      <Offline />
      <Page>
        <Outlet />
      </Page>
    </Frame>
  );
}

function Page({ children }: { readonly children: React.ReactNode }) {
  return (
    <main
      id="content"
      tabIndex={-1}
      className="mx-auto w-full max-w-[1488px] flex-1 px-6 py-5 outline-none max-sm:px-4 max-sm:pt-3"
    >
      {children}
    </main>
  );
}

function Offline({ isOnTop }: { readonly isOnTop?: boolean }) {
  return useIsOffline() && <OfflineBar isOnTop={isOnTop}>{t.offline}</OfflineBar>;
}

function Frame({ children }: { readonly children: React.ReactNode }) {
  const isOffline = useIsOffline();
  return (
    <TooltipProvider>
      <ToastProvider label={t.notifications} closeLabel={t.close}>
        <a
          href="#content"
          className="absolute top-2 left-2 z-50 -translate-y-16 rounded-2 bg-raised px-3 py-2 shadow-2 focus:translate-y-0"
        >
          {t.skip}
        </a>
        <OfflineReason value={isOffline ? t.offlineButton : undefined}>
          <ProofProvider>{children}</ProofProvider>
        </OfflineReason>
      </ToastProvider>
    </TooltipProvider>
  );
}
