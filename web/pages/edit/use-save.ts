import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { ApiError, call } from "../../api/call.ts";
import type { Link } from "../../api/generated.ts";
import { linkQuery, refresh } from "../../api/queries.ts";
import { messageOf, useIntentKey } from "../../forms.ts";
import { useWorkspace } from "../../workspace.ts";
import type { EditorState } from "./editor.ts";
import { putLink } from "./link-cache.ts";
import { changesOf, formOf, type LinkForm, newLinkOf } from "./link-form.ts";

/** Creates or changes the link, once however often it is sent. */
export interface Save {
  readonly isSaving: boolean;
  /** What concerns no single field. */
  readonly failure: string | undefined;
  /** The version that somebody else saved meanwhile. */
  readonly theirs: Link | undefined;
  /** The stored link, or undefined if it was refused. */
  send(): Promise<Link | undefined>;
  /** Saves what was chosen from two versions. */
  sendMerged(form: LinkForm): Promise<Link | undefined>;
}

export function useSave(editor: EditorState, newer: Link | undefined): Save {
  const { form, base } = editor;
  const { slug } = useWorkspace();
  const queries = useQueryClient();
  const intent = useIntentKey(base === undefined ? newLinkOf(form) : null);
  const isSending = useRef(false);
  const [isSaving, setSaving] = useState(false);
  const [failure, setFailure] = useState<string>();
  const [theirs, setTheirs] = useState<Link | undefined>(newer);

  async function create(): Promise<Link> {
    const created = await call("POST /api/links", { body: newLinkOf(form), idempotencyKey: intent.key() });
    intent.done();
    return created;
  }

  async function change(from: Link, next: LinkForm): Promise<Link> {
    const body = changesOf(formOf(from), next);
    if (Object.keys(body).length === 0) return from;
    const headers = { "if-match": `"${from.version}"` };
    try {
      const changed = await call("PATCH /api/links/{id}", { path: { id: from.id }, body, headers });
      putLink(queries, changed.id, () => changed);
      return changed;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "version_conflict") throw error;
      const latest = await queries.fetchQuery({ ...linkQuery(slug, from.id), staleTime: 0 });
      const isElsewhere = Object.keys(changesOf(formOf(from), formOf(latest))).length === 0;
      // Enabled or disabled meanwhile, which is no field of this form: there is nothing to choose.
      if (isElsewhere && latest.version > from.version) return await change(latest, next);
      setTheirs(latest);
      throw error;
    }
  }

  async function send(work: () => Promise<Link>): Promise<Link | undefined> {
    if (isSending.current) return undefined;
    isSending.current = true;
    setSaving(true);
    setFailure(undefined);
    try {
      const stored = await work();
      editor.setErrors(undefined);
      setTheirs(undefined);
      queries.setQueryData(linkQuery(slug, stored.id).queryKey, stored);
      void refresh(queries, "/api/links", "/api/tags");
      return stored;
    } catch (error) {
      editor.setErrors(error);
      const isAtField = error instanceof ApiError && error.errors.length > 0;
      setFailure(isAtField ? undefined : messageOf(error));
      return undefined;
    } finally {
      isSending.current = false;
      setSaving(false);
    }
  }

  return {
    ...{ isSaving, failure, theirs },
    send: () => send(() => (base === undefined ? create() : change(base, form))),
    async sendMerged(merged) {
      if (theirs === undefined) return undefined;
      const from = theirs;
      editor.rebase(merged, from);
      const stored = await send(() => change(from, merged));
      // Refused for another reason: the form shows it, on top of their version.
      if (stored === undefined) setTheirs((latest) => (latest === from ? undefined : latest));
      return stored;
    },
  };
}
