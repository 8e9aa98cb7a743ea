import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import Globe from "lucide-react/icons/globe";
import Import from "lucide-react/icons/import";
import Upload from "lucide-react/icons/upload";
import { useEffect, useState } from "react";
import type { Link as ShortLink } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { AccountMenu } from "../../shell/account-menu.tsx";
import { shellTexts } from "../../texts/shell.ts";
import { startTexts as t } from "../../texts/start.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Kbd } from "../../ui/chip.tsx";
import { Logo } from "../../ui/logo.tsx";
import { useWorkspace } from "../../workspace.ts";
import { FirstClick } from "./first-click.tsx";
import { PasteForm } from "./paste-form.tsx";

/** The first five minutes: one address, one short link, one click. */
export function StartPage() {
  const { slug, can } = useWorkspace();
  const queries = useQueryClient();
  const [link, setLink] = useState<ShortLink>();
  useEffect(() => {
    document.title = `${t.title} · ${shellTexts.product}`;
  }, []);
  const created = (made: ShortLink) => {
    setLink(made);
    void refresh(queries, "/api/links");
  };
  return (
    <div className="grid min-h-dvh grid-cols-1 grid-rows-[64px_1fr_56px] px-8 max-sm:px-4">
      <header className="flex items-center">
        <Link to="/w/$workspace" params={{ workspace: slug }} search={{}} className="touch flex rounded-1">
          <Logo name={shellTexts.product} />
        </Link>
        <span className="flex-1" />
        <AccountMenu />
      </header>
      <main id="content" tabIndex={-1} className="w-full self-center justify-self-center py-6 outline-none">
        {!can("links:write") ? (
          <ReadOnly />
        ) : link === undefined ? (
          <div className="mx-auto grid max-w-[620px] grid-cols-1 gap-6 text-center">
            <div>
              <h1 className="text-30 font-semibold tracking-[-.024em] max-sm:text-24">{t.title}</h1>
              <p className="mt-2 text-14 text-text-2">{t.lead(location.host)}</p>
            </div>
            <PasteForm onCreated={created} />
            <Otherwise />
          </div>
        ) : (
          <FirstClick key={link.id} link={link} onAnother={() => setLink(undefined)} />
        )}
      </main>
      <footer className="flex items-center gap-2 text-12 text-text-3">
        <span className="flex items-center gap-2 max-sm:hidden">
          {t.help.before} <Kbd>?</Kbd> {t.help.after}
        </span>
        <span className="flex-1" />
        <Link
          to="/w/$workspace"
          params={{ workspace: slug }}
          search={{}}
          className="touch rounded-1 py-3 hover:text-text"
        >
          {t.skip}
        </Link>
      </footer>
    </div>
  );
}

function Otherwise() {
  const { slug, can } = useWorkspace();
  const quiet = buttonClass({ variant: "quiet" });
  const params = { workspace: slug };
  return (
    <nav className="flex flex-wrap justify-center gap-1.5">
      {can("files:write") && (
        <Link to="/w/$workspace/files" params={params} search={{}} className={quiet}>
          <Upload className="size-3.5" aria-hidden />
          {t.upload}
        </Link>
      )}
      <Link to="/w/$workspace/import" params={params} search={{}} className={quiet}>
        <Import className="size-3.5" aria-hidden />
        {t.import}
      </Link>
      {can("admin") && (
        <Link to="/w/$workspace/domains" params={params} search={{}} className={quiet}>
          <Globe className="size-3.5" aria-hidden />
          {t.domain}
        </Link>
      )}
    </nav>
  );
}

function ReadOnly() {
  const { slug } = useWorkspace();
  return (
    <div className="mx-auto grid max-w-[420px] justify-items-center gap-4 text-center">
      <h1 className="text-24 font-semibold tracking-[-.02em]">{t.readOnlyTitle}</h1>
      <p className="text-14 text-text-2">{t.readOnlyText}</p>
      <Link to="/w/$workspace/links" params={{ workspace: slug }} search={{}} className={buttonClass()}>
        {t.toLinks}
      </Link>
    </div>
  );
}
