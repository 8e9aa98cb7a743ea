import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { call } from "../../api/call.ts";
import type { Domain } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { fieldErrorsOf, focusFirstError, messageOf, useEdits } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { domainTexts as t } from "../../texts/domains.ts";
import { Button } from "../../ui/button.tsx";
import { Details } from "../../ui/details.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";

/** Where the bare domain and unknown codes lead. */
export function DomainTargets({ domain }: { readonly domain: Domain }) {
  const { can, slug } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const form = useRef<HTMLFormElement>(null);
  const { host } = domain;
  const edits = useEdits(`domain:${slug}:${host}`, {
    ...{ rootUrl: domain.rootUrl ?? "", missingUrl: domain.missingUrl ?? "" },
  });
  const { rootUrl, missingUrl } = edits.values;
  const orNull = (text: string) => (text.trim() === "" ? null : text.trim());
  const save = useMutation({
    mutationFn: () =>
      call("PATCH /api/domains/{host}", {
        path: { host },
        body: { rootUrl: orNull(rootUrl), missingUrl: orNull(missingUrl) },
      }),
    onMutate: () => edits.sent(),
    async onSuccess(_, __, settle) {
      toast({ message: commonTexts.saved });
      await refresh(queries, "/api/domains");
      settle();
    },
    onError(error) {
      if (Object.keys(fieldErrorsOf(error)).length === 0) toast({ message: messageOf(error), tone: "bad" });
      focusFirstError(form.current);
    },
  });
  const errors = fieldErrorsOf(save.error);
  const isChanged = orNull(rootUrl) !== domain.rootUrl || orNull(missingUrl) !== domain.missingUrl;
  const summary = [domain.rootUrl, domain.missingUrl].filter(Boolean).join(" · ") || commonTexts.none;
  return (
    <div className="mt-2">
      <Details title={t.settings} summary={summary}>
        <form
          ref={form}
          noValidate
          className="grid gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (!save.isPending) save.mutate();
          }}
        >
          <Field label={t.rootUrl} hint={domain.rootBlocked ? t.blocked : t.rootHint} error={errors.rootUrl}>
            <Input
              type="url"
              value={rootUrl}
              disabled={!can("admin")}
              placeholder="https://example.com/"
              onChange={(event) => edits.set({ rootUrl: event.target.value })}
            />
          </Field>
          <Field
            label={t.missingUrl}
            hint={domain.missingBlocked ? t.blocked : t.missingHint}
            error={errors.missingUrl}
          >
            <Input
              type="url"
              value={missingUrl}
              disabled={!can("admin")}
              placeholder="https://example.com/not-found"
              onChange={(event) => edits.set({ missingUrl: event.target.value })}
            />
          </Field>
          {can("admin") && isChanged && (
            <p className="flex flex-wrap gap-2">
              <Button type="submit" variant="primary" loading={save.isPending}>
                {commonTexts.save}
              </Button>
              <Button variant="quiet" onClick={edits.discard}>
                {commonTexts.discard}
              </Button>
            </p>
          )}
        </form>
      </Details>
    </div>
  );
}
