import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";

/**
 * The pages for people who are not signed in, as a small program of its own: without router and cache, and nothing of an account in
 * memory. The server sends it for these addresses (`src/dashboard/mount.ts`); whatever follows is a new page.
 */
const pages: Readonly<Record<string, React.LazyExoticComponent<() => React.ReactNode>>> = {
  "sign-in": lazy(() => import("./pages/sign-in/sign-in-page.tsx").then(({ SignInPage }) => ({ default: SignInPage }))),
  setup: lazy(() => import("./pages/sign-in/set-up-page.tsx").then(({ SetUpPage }) => ({ default: SetUpPage }))),
  "sign-up": lazy(() => import("./pages/sign-in/sign-up-page.tsx").then(({ SignUpPage }) => ({ default: SignUpPage }))),
  verify: lazy(() => import("./pages/sign-in/verify-page.tsx").then(({ VerifyPage }) => ({ default: VerifyPage }))),
  reset: lazy(() => import("./pages/sign-in/reset-page.tsx").then(({ ResetPage }) => ({ default: ResetPage }))),
  email: lazy(() =>
    import("./pages/sign-in/changed-email-page.tsx").then(({ ChangedEmailPage }) => ({ default: ChangedEmailPage })),
  ),
  invitation: lazy(() =>
    import("./pages/sign-in/invitation-page.tsx").then(({ InvitationPage }) => ({ default: InvitationPage })),
  ),
};

const [, , name = ""] = location.pathname.split("/");
const Page = pages[name] ?? pages["sign-in"];
// Another token in the same tab changes nothing but what is behind the #.
addEventListener("hashchange", () => location.reload());

const place = document.getElementById("app");
if (place !== null && Page !== undefined) {
  createRoot(place).render(
    <StrictMode>
      <Suspense>
        <Page />
      </Suspense>
    </StrictMode>,
  );
}
