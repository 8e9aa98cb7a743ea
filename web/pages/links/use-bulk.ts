import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { call } from "../../api/call.ts";
import type { BulkEdit, BulkUndoStep, Link, LinkFilter } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { formatNumber } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { randomId } from "../../random-id.ts";
import { linksTexts as t } from "../../texts/links.ts";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { changeLinks } from "./use-links.ts";

/**
 * A change of many links: shown at once, sent in parts of 1,000, reported with what was refused, and taken back with one
 * press of Undo.
 */
export interface BulkOrder {
  /** `total`: how many links match the filter. */
  readonly target: { readonly ids: readonly string[] } | { readonly filter: LinkFilter; readonly total: number };
  readonly edit: Omit<BulkEdit, "ids" | "filter" | "cursor" | "undo">;
  /** How the change looks before the server has answered. Undefined: the link leaves the list. */
  readonly preview?: (link: Link) => Link | undefined;
  readonly done: (count: number) => string;
}

interface Outcome {
  changed: number;
  failed: number;
  reason: string;
  readonly undo: BulkUndoStep[];
}

const atOnce = 1_000;
const undoAtOnce = 5_000;

/** Takes back what a change of many links returned. */
export function useUndo(): (undo: readonly BulkUndoStep[]) => Promise<void> {
  const queries = useQueryClient();
  const toast = useToast();
  return useCallback(
    async (undo) => {
      try {
        const outcome = newOutcome();
        for (let at = 0; at < undo.length; at += undoAtOnce) {
          add(outcome, await call("PATCH /api/links/bulk", { body: { undo: undo.slice(at, at + undoAtOnce) } }));
        }
        const failed = outcome.failed > 0 ? t.failedLinks(outcome.failed, outcome.reason) : "";
        toast({
          message: failed === "" ? t.undone(outcome.changed) : t.partly(t.undone(outcome.changed), failed),
          tone: failed === "" ? "plain" : "bad",
        });
      } catch (error) {
        toast({ message: messageOf(error), tone: "bad" });
      }
      await reread(queries);
    },
    [queries, toast],
  );
}

const reread = (queries: QueryClient): Promise<void> => refresh(queries, "/api/links", "/api/tags", "/api/trash");

export function useBulk(): (order: BulkOrder) => Promise<boolean> {
  const queries = useQueryClient();
  const toast = useToast();
  const takeBack = useUndo();
  const { slug } = useWorkspace();

  return useCallback(
    async ({ target, edit, preview, done }) => {
      if (preview && "ids" in target) {
        const ids = new Set(target.ids);
        changeLinks(queries, slug, (link) => (ids.has(link.id) ? preview(link) : link));
      }
      const outcome = newOutcome();
      // The toast of this change, from its progress to its Undo.
      const key = randomId();
      let stopped: unknown;
      try {
        await send(target, edit, outcome, (done, total) =>
          toast({ message: t.working(formatNumber(done), formatNumber(total)), key }),
        );
      } catch (error) {
        stopped = error;
        outcome.reason = messageOf(error);
      }
      const { changed, failed, reason, undo } = outcome;
      const undoAction = undo.length > 0 ? { action: { label: t.undo, onAction: () => void takeBack(undo) } } : {};
      const problem = stopped === undefined ? (failed > 0 ? t.failedLinks(failed, reason) : "") : reason;
      if (problem !== "") {
        toast({ message: changed > 0 ? t.partly(done(changed), problem) : problem, tone: "bad", key, ...undoAction });
      } else toast({ message: changed > 0 ? done(changed) : t.unchanged, key, ...undoAction });
      await reread(queries);
      return problem === "";
    },
    [queries, slug, toast, takeBack],
  );
}

/** To the trash, from where it comes back. */
export const deletion: Omit<BulkOrder, "target"> = {
  edit: { action: "delete" },
  preview: () => undefined,
  done: t.deletedLinks,
};

const newOutcome = (): Outcome => ({ changed: 0, failed: 0, reason: "", undo: [] });

async function send(
  target: BulkOrder["target"],
  edit: BulkOrder["edit"],
  outcome: Outcome,
  tell: (done: number, total: number) => void,
): Promise<void> {
  if ("ids" in target) {
    for (let at = 0; at < target.ids.length; at += atOnce) {
      const ids = target.ids.slice(at, at + atOnce);
      add(outcome, await call("PATCH /api/links/bulk", { body: { ...edit, ids } }));
    }
    return;
  }
  let done = 0;
  for (let cursor: string | undefined; ; ) {
    const body = { ...edit, filter: target.filter, ...(cursor !== undefined && { cursor }) };
    const part = await call("PATCH /api/links/bulk", { body });
    add(outcome, part);
    if (part.nextCursor === null) return;
    cursor = part.nextCursor;
    done += part.results.length;
    tell(done, Math.max(done, target.total));
  }
}

function add(outcome: Outcome, part: Awaited<ReturnType<typeof call<"PATCH /api/links/bulk">>>): void {
  outcome.changed += part.changed;
  outcome.failed += part.failed;
  outcome.undo.unshift(...part.undo);
  if (outcome.reason === "") outcome.reason = part.results.find(({ problem }) => problem)?.problem?.detail ?? "";
}
