import { useState } from "react";
import { Logo } from "../ui/logo.tsx";
import { Page, PageHeader } from "../ui/page.tsx";
import { Segmented } from "../ui/tabs.tsx";
import { ToastProvider } from "../ui/toast.tsx";
import { TooltipProvider } from "../ui/tooltip.tsx";
import { Controls } from "./design/controls.tsx";
import { Data } from "./design/data.tsx";
import { Forms } from "./design/forms.tsx";
import { Overlays } from "./design/overlays.tsx";
import { Tokens } from "./design/tokens.tsx";

const themes = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
] as const;

/** Every component in every state, for whoever builds pages. Only in development, so its texts are literal. */
export function DesignPage() {
  const [theme, setTheme] = useState<"system" | "light" | "dark">("system");
  return (
    <TooltipProvider>
      <ToastProvider label="Messages" closeLabel="Close">
        <main>
          <Page>
            <PageHeader
              title="Design"
              remark="web/ui"
              description="All components in all states."
              actions={
                <>
                  <Logo name="QuickLink" />
                  <Segmented
                    label="Theme"
                    value={theme}
                    options={themes}
                    onValueChange={(next) => {
                      setTheme(next);
                      if (next === "system") delete document.documentElement.dataset.theme;
                      else document.documentElement.dataset.theme = next;
                    }}
                  />
                </>
              }
            />
            <div className="grid grid-cols-1 gap-4">
              <Tokens />
              <Controls />
              <Forms />
              <Data />
              <Overlays />
            </div>
          </Page>
        </main>
      </ToastProvider>
    </TooltipProvider>
  );
}
