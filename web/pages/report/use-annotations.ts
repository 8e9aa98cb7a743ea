import { useQuery, useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import type { Annotation, ClickReport } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { reportTexts } from "../../texts/report.ts";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";

const t = reportTexts.notes;
const shownMost = 100;

export interface Annotations {
  readonly items: readonly Annotation[];
  readonly failed: boolean;
  remove(note: Annotation): Promise<void>;
  added(): Promise<void>;
}

/** Notes in the range of the report: those of the link and of the whole workspace. */
export function useAnnotations(link: string | undefined, report: ClickReport | undefined): Annotations {
  const { slug } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const query = { link, from: report?.from, to: report?.to, limit: shownMost };
  const { data, isError } = useQuery({
    queryKey: ["/api/annotations", slug, query],
    queryFn: ({ signal }) => call("GET /api/annotations", { query, signal }),
    enabled: report !== undefined,
    placeholderData: (before) => before,
    staleTime: 30_000,
  });
  const reread = () => refresh(queries, "/api/annotations");

  async function remove(note: Annotation): Promise<void> {
    try {
      await call("DELETE /api/annotations/{id}", { path: { id: note.id } });
      const again = { text: note.text, at: note.at, link: note.link };
      const onAction = () => void call("POST /api/annotations", { body: again }).then(reread);
      toast({ message: t.deleted, action: { label: commonTexts.undo, onAction } });
    } catch (error) {
      toast({ message: messageOf(error), tone: "bad" });
    }
    await reread();
  }
  const items = (data?.items ?? []).filter((note) => link !== undefined || note.link === null);
  return { items, failed: isError, remove, added: reread };
}
