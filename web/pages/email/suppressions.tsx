import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { formatDate } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { emailTexts as t } from "../../texts/email.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";

const shownMost = 100;

export function Suppressions() {
  const { slug } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const { data } = useQuery(listQuery(slug, "GET /api/email/suppressions", { limit: shownMost }));
  const allow = useMutation({
    mutationFn: (address: string) => call("DELETE /api/email/suppressions/{address}", { path: { address } }),
    async onSuccess(_, address) {
      toast({ message: t.allowed(address) });
      await refresh(queries, "/api/email/suppressions");
    },
    onError: (error) => toast({ message: messageOf(error), tone: "bad" }),
  });
  if (data === undefined) return null;
  return (
    <Section title={t.suppressions} description={t.suppressionsText}>
      {data.items.length === 0 ? (
        <p className="text-text-3">{t.noSuppressions}</p>
      ) : (
        <ul className="-my-2">
          {data.items.map(({ address, reason, createdAt }) => (
            <li
              key={address}
              className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line py-2 first:border-t-0"
            >
              <span className="min-w-0 flex-1 basis-40 truncate" title={address}>
                {address}
              </span>
              <span className="text-12 text-text-3">
                {t.reasons[reason]} · {formatDate(createdAt)}
              </span>
              <Button
                size="sm"
                loading={allow.isPending && allow.variables === address}
                onClick={() => allow.mutate(address)}
                aria-label={`${t.allow}: ${address}`}
              >
                {t.allow}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
