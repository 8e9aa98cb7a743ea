import { useQuery, useQueryClient } from "@tanstack/react-query";
import ExternalLink from "lucide-react/icons/external-link";
import { call } from "../../api/call.ts";
import type { StatsShare } from "../../api/generated.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { formatDate } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { shareTexts as t } from "../../texts/share.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { shortly } from "../edit/link-form.ts";
import { Loaded } from "../report/loaded.tsx";

/** What is public about a link. */
export function ShareList({ link }: { readonly link: string }) {
  const { slug } = useWorkspace();
  const shares = useQuery(listQuery(slug, "GET /api/stats/shares", { link, limit: 100 }));
  return (
    <Loaded query={shares} failed={t.couldNotLoad} waiting={null}>
      {({ items }) =>
        items.length > 0 && (
          <section className="-mx-5 border-t border-line px-5 py-3">
            <h3 className="mb-1 font-semibold">{t.existing}</h3>
            <ul>
              {items.map((share) => (
                <ShareLine key={share.id} share={share} />
              ))}
            </ul>
          </section>
        )
      }
    </Loaded>
  );
}

function ShareLine({ share }: { readonly share: StatsShare }) {
  const queries = useQueryClient();
  const toast = useToast();
  const isOver = share.expiresAt !== null && Date.parse(share.expiresAt) <= Date.now();
  const about = [
    t.lastDays(share.days),
    t.since(formatDate(share.createdAt)),
    share.expiresAt && (isOver ? t.expired : t.until)(formatDate(share.expiresAt)),
    share.password && t.withPassword,
    share.filters.length > 0 && t.filtered,
  ].filter((one) => typeof one === "string");

  async function revoke(): Promise<void> {
    try {
      await call("DELETE /api/stats/shares/{id}", { path: { id: share.id } });
      toast({ message: t.revoked });
    } catch (error) {
      toast({ message: messageOf(error), tone: "bad" });
    }
    await refresh(queries, "/api/stats/shares");
  }

  return (
    <li className="flex flex-wrap items-center gap-x-2 gap-y-1 border-t border-line py-2 first:border-t-0">
      <div className="min-w-0 flex-[1_1_14rem]">
        <p className="truncate" title={share.url}>
          {shortly(share.url)}
        </p>
        <p className="text-12 text-text-3">{about.join(" · ")}</p>
      </div>
      <CopyButton text={share.url} label={t.copy} copiedLabel={t.copied} size="sm" />
      <a href={share.url} target="_blank" rel="noreferrer" className={buttonClass({ size: "sm", variant: "quiet" })}>
        <ExternalLink className="size-3.5" aria-hidden />
        {t.openPage}
      </a>
      <Button size="sm" variant="danger" aria-label={t.revokeOf(share.url)} onClick={() => void revoke()}>
        {t.revoke}
      </Button>
    </li>
  );
}
