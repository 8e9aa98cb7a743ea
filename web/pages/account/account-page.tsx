import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { accountQuery, listQuery } from "../../api/queries.ts";
import { accountTexts as t } from "../../texts/account.ts";
import { shellTexts } from "../../texts/shell.ts";
import { cx } from "../../ui/class-names.ts";
import { PageHeader } from "../../ui/page.tsx";
import { DeleteSection, ExportSection } from "./data-section.tsx";
import { EmailSection } from "./email-section.tsx";
import { PasskeysSection } from "./passkeys-section.tsx";
import { PasswordSection } from "./password-section.tsx";
import { ProfileSection } from "./profile-section.tsx";
import { DevicesSection, SessionsSection } from "./sessions-section.tsx";
import { TwoFactorSection } from "./two-factor-section.tsx";
import { WorkspacesSection } from "./workspaces-section.tsx";

interface Part {
  readonly id: string;
  readonly name: string;
  readonly content: ReactNode;
}

/** Everything about one person. Each section has an address: `/app/account#sessions`. */
export function AccountPage() {
  const { data: account } = useQuery(accountQuery);
  const { data: options } = useQuery(listQuery("", "GET /api/auth/options"));
  const isReady = account !== undefined && options !== undefined;
  const current = useShownPart(isReady);
  useEffect(() => {
    document.title = `${t.title} · ${shellTexts.product}`;
  }, []);
  if (!isReady) return null;
  const { person } = account;
  const parts: readonly Part[] = [
    { id: "profile", name: t.profile, content: <ProfileSection person={person} /> },
    { id: "email", name: t.email, content: <EmailSection person={person} /> },
    { id: "password", name: t.password, content: <PasswordSection person={person} /> },
    { id: "two-factor", name: t.twoFactor, content: <TwoFactorSection person={person} /> },
    ...(options.passkeys ? [{ id: "passkeys", name: t.passkeys, content: <PasskeysSection /> }] : []),
    { id: "sessions", name: t.sessions, content: <SessionsSection /> },
    ...(person.hasSecondFactor ? [{ id: "devices", name: t.devices, content: <DevicesSection /> }] : []),
    { id: "workspaces", name: t.workspaces, content: <WorkspacesSection /> },
    {
      id: "data",
      name: t.data,
      content: (
        <div className="grid gap-4">
          <ExportSection />
          <DeleteSection person={person} />
        </div>
      ),
    },
  ];
  return (
    <div className="mx-auto grid max-w-[920px] gap-x-10 md:grid-cols-[180px_minmax(0,1fr)]">
      <div className="md:col-start-2">
        <PageHeader title={t.title} />
      </div>
      <nav aria-label={t.sections} className="max-md:hidden">
        <ul className="sticky top-[calc(var(--topbar)+20px)] grid gap-px">
          {parts.map(({ id, name }) => (
            <li key={id}>
              <Link
                to="/account"
                search={{}}
                hash={id}
                aria-current={id === current ? "location" : undefined}
                className={cx(
                  "flex h-[31px] items-center rounded-2 px-2 hover:bg-hover hover:text-text",
                  id === current ? "bg-pressed font-medium text-text" : "text-text-2",
                )}
              >
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className="grid max-w-[680px] content-start gap-4">
        {parts.map(({ id, content }) => (
          <div key={id} id={id} data-part="" className="min-w-0 scroll-mt-1">
            {content}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Below the top bar, with some of the section before it. */
const readAtPx = 140;

/** The section that is being read: the address names the first one, and scrolling goes on from there. */
function useShownPart(isReady: boolean): string {
  const { hash } = useLocation();
  const [shown, setShown] = useState(hash === "" ? "profile" : hash);
  useEffect(() => {
    if (!isReady || hash === "") return;
    document.getElementById(hash)?.scrollIntoView();
    setShown(hash);
  }, [isReady, hash]);
  useEffect(() => {
    if (!isReady) return;
    const follow = () => {
      const above = [...document.querySelectorAll("[data-part]")].filter(
        (part) => part.getBoundingClientRect().top < readAtPx,
      );
      const last = above.at(-1);
      if (last !== undefined) setShown(last.id);
    };
    window.addEventListener("scroll", follow, { passive: true });
    return () => window.removeEventListener("scroll", follow);
  }, [isReady]);
  return shown;
}
