import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import Unlink from "lucide-react/icons/unlink";
import type { Link as ShortLink } from "../../api/generated.ts";
import { listQuery } from "../../api/queries.ts";
import { formatDateTime } from "../../format.ts";
import { overviewTexts } from "../../texts/overview.ts";
import { Card, CardTitle } from "../../ui/card.tsx";
import { useWorkspace } from "../../workspace.ts";
import { shortly } from "../edit/link-form.ts";
import { failureText } from "../link/target-health.tsx";
import { Loaded } from "../report/loaded.tsx";
import { CardWaiting } from "./card-waiting.tsx";

const t = overviewTexts.trouble;
const shownMost = 5;

/** Links whose visitors end up nowhere. */
export function DeadTargets() {
  const { slug, can } = useWorkspace();
  const links = useQuery({
    ...listQuery(slug, "GET /api/links", { state: "attention", limit: 100 }),
    enabled: can("links:read"),
  });
  if (!can("links:read")) return null;
  return (
    <Card aria-label={t.title}>
      <CardTitle className="px-4">{t.title}</CardTitle>
      <Loaded query={links} failed={t.couldNotLoad} waiting={<CardWaiting />}>
        {({ items }) => {
          const dead = items.filter(({ target }) => target?.state === "dead" || target?.state === "failing");
          if (dead.length === 0) return <p className="px-4 pb-3.5 text-text-2">{t.empty}</p>;
          return (
            <ul className="pb-1">
              {dead.slice(0, shownMost).map((link) => (
                <DeadLine key={link.id} link={link} />
              ))}
              {dead.length > shownMost && (
                <li className="border-t border-line px-4 py-2 text-12">
                  <Link
                    to="/w/$workspace/links"
                    params={{ workspace: slug }}
                    search={{ state: "attention" }}
                    className="font-medium text-accent-text hover:underline"
                  >
                    {t.all}
                  </Link>
                </li>
              )}
            </ul>
          );
        }}
      </Loaded>
    </Card>
  );
}

function DeadLine({ link }: { readonly link: ShortLink }) {
  const { slug } = useWorkspace();
  const { target } = link;
  if (target === null) return null;
  return (
    <li className="border-t border-line">
      <Link
        to="/w/$workspace/links/$link"
        params={{ workspace: slug, link: link.id }}
        search={{}}
        className="block px-4 py-1.5 hover:bg-hover"
      >
        <span className="block truncate" title={link.shortUrl}>
          {shortly(link.shortUrl)}
        </span>
        <span
          title={t.checked(formatDateTime(target.checkedAt))}
          className="flex items-center gap-1.5 text-12 text-bad"
        >
          <Unlink className="size-3.5" />
          {failureText(target.httpStatus, target.failingSince)}
        </span>
      </Link>
    </li>
  );
}
