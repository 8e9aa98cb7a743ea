import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError, whenSignedOut } from "./api/call.ts";
import { accountQuery, isWorthRetrying } from "./api/queries.ts";
import { createAppRouter } from "./router.tsx";
import { toSignIn } from "./to-sign-in.ts";

const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: isWorthRetrying, staleTime: 5_000, refetchOnWindowFocus: true },
    // Without a connection a change fails at once, and says so. By default it would wait, and happen when nobody looks.
    mutations: { networkMode: "always" },
  },
});
const router = createAppRouter(queries);

// The same page and what was typed there come back after the sign-in: drafts are kept by the forms.
whenSignedOut(() => {
  if (!queries.getQueryState(accountQuery.queryKey)?.data) return;
  void toSignIn(router.state.location.href, true);
});

const place = document.getElementById("app");
if (place !== null) {
  // Refused calls are shown where they belong; only mistakes of ours are for the console.
  const onCaughtError = (error: unknown) => {
    if (!(error instanceof ApiError)) console.error(error);
  };
  createRoot(place, { onCaughtError }).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
