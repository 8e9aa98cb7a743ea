import { useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import type { Link } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { messageOf } from "../../forms.ts";
import { editTexts, actionTexts as t } from "../../texts/edit.ts";
import { useToast } from "../../ui/toast.tsx";
import { putLink } from "./link-cache.ts";
import { shortly } from "./link-form.ts";

/** What is done to a link at once, with Undo: shown before the server has answered, and taken back if it refuses. */
export interface LinkActions {
  setStatus(link: Link, status: Link["status"]): Promise<void>;
  remove(link: Link): Promise<boolean>;
}

export function useLinkActions(): LinkActions {
  const queries = useQueryClient();
  const toast = useToast();
  const reread = () => refresh(queries, "/api/links", "/api/trash", "/api/tags");

  async function setStatus(link: Link, status: Link["status"]): Promise<void> {
    const name = shortly(link.shortUrl);
    const rollBack = putLink(queries, link.id, (before) => ({ ...before, status }));
    try {
      const changed = await call("PATCH /api/links/{id}", { path: { id: link.id }, body: { status } });
      putLink(queries, link.id, () => changed);
      const other = status === "active" ? "disabled" : "active";
      toast({
        message: status === "active" ? t.enabled(name) : t.disabled(name),
        action: { label: editTexts.undo, onAction: () => void setStatus(changed, other) },
        key: `status ${link.id}`,
      });
    } catch (error) {
      rollBack();
      toast({ message: messageOf(error), tone: "bad" });
    }
    await reread();
  }

  async function restore(link: Link): Promise<void> {
    try {
      await call("POST /api/trash/{id}/restore", { path: { id: link.id } });
      toast({ message: t.restored(shortly(link.shortUrl)) });
    } catch (error) {
      toast({ message: messageOf(error), tone: "bad" });
    }
    await reread();
  }

  async function remove(link: Link): Promise<boolean> {
    const rollBack = putLink(queries, link.id, () => undefined);
    try {
      await call("DELETE /api/links/{id}", { path: { id: link.id } });
    } catch (error) {
      rollBack();
      toast({ message: messageOf(error), tone: "bad" });
      return false;
    }
    toast({
      message: t.deleted(shortly(link.shortUrl)),
      action: { label: editTexts.undo, onAction: () => void restore(link) },
    });
    void reread();
    return true;
  }
  return { setStatus, remove };
}
