import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import type { Domain } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { domainTexts as t } from "../../texts/domains.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Details } from "../../ui/details.tsx";
import { FieldError } from "../../ui/field.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";

interface StepsProps {
  readonly host: string;
  readonly proof: NonNullable<Domain["proof"]>;
}

/** What to publish until the domain is verified, each value to copy. */
export function DomainSteps({ host, proof }: StepsProps) {
  const { can } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const verify = useMutation({
    mutationFn: () => call("POST /api/domains/{host}/verify", { path: { host } }),
    async onSuccess() {
      toast({ message: t.verifyDone(host) });
      await refresh(queries, "/api/domains");
    },
  });
  const labels = { copyLabel: commonTexts.copy, copiedLabel: commonTexts.copied };
  return (
    <div className="mt-3 grid gap-3">
      <p className="text-text-2">{t.stepOne}</p>
      <dl className="grid gap-2 sm:grid-cols-[auto_minmax(0,1fr)] sm:items-center">
        <dt className="text-12 text-text-3">{t.recordName}</dt>
        <dd className="min-w-0">
          <CodeBlock code={proof.txt.name} label={t.recordName} {...labels} />
        </dd>
        <dt className="text-12 text-text-3">{t.recordValue}</dt>
        <dd className="min-w-0">
          <CodeBlock code={proof.txt.value} label={t.recordValue} {...labels} />
        </dd>
      </dl>
      <Details title={t.orFile} summary={null}>
        <div className="grid gap-2">
          <CodeBlock code={proof.file.url} label={t.recordName} {...labels} />
          <CodeBlock code={proof.file.content} label={t.recordValue} {...labels} />
        </div>
      </Details>
      <p className="text-text-2">{t.stepTwo}</p>
      <CodeBlock code={location.hostname} label={t.stepTwo} {...labels} />
      <p className="text-text-2">{t.stepThree}</p>
      {verify.error && <FieldError>{messageOf(verify.error)}</FieldError>}
      {can("admin") && (
        <p>
          <Button variant="secondary" loading={verify.isPending} onClick={() => verify.mutate()}>
            {t.verify}
          </Button>
        </p>
      )}
    </div>
  );
}
