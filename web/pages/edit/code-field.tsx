import { useQuery, useQueryClient } from "@tanstack/react-query";
import Check from "lucide-react/icons/check";
import { call } from "../../api/call.ts";
import type { CodeCheck } from "../../api/generated.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { messageOf, useSettled } from "../../forms.ts";
import { useLinkDrawer } from "../../shell/link-drawer.ts";
import { codeTexts as t } from "../../texts/edit.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Chip, ChipSeparator } from "../../ui/chip.tsx";
import { Field } from "../../ui/field.tsx";
import { Input, InputGroup } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import type { Editor } from "./editor.ts";
import { shortly } from "./link-form.ts";

const serverHost = (): string => window.location.host;

/** The domains that new links can have, the default first. */
export function useDomains(): readonly string[] {
  const { slug } = useWorkspace();
  const { data } = useQuery({ ...listQuery(slug, "GET /api/domains", { limit: 100 }), staleTime: 60_000 });
  const verified = data?.items.filter(({ state }) => state === "verified") ?? [];
  const chosen = verified.find(({ isDefault }) => isDefault);
  const others = verified.filter((domain) => domain !== chosen).map(({ host }) => host);
  return chosen ? [chosen.host, serverHost(), ...others] : [serverHost(), ...others];
}

/** Short link of a new link. The check runs while somebody types; it reserves nothing. */
export function CodeField({ editor }: { readonly editor: Editor }) {
  const { form, set, errorOf } = editor;
  const { slug } = useWorkspace();
  const domains = useDomains();
  const domain = form.domain === "" ? (domains[0] ?? serverHost()) : form.domain;
  const code = form.code.trim();
  const settled = useSettled(code);
  const { data } = useQuery({
    ...listQuery(slug, "GET /api/links/check", { code: settled, domain }),
    enabled: settled !== "",
    staleTime: 5_000,
    retry: false,
  });
  const check = settled === code && code !== "" ? data : undefined;
  const isRefused = check !== undefined && !check.isFree;
  const error = (isRefused ? check.message : undefined) ?? errorOf("code") ?? errorOf("domain");
  return (
    <Field
      label={t.label}
      remark={t.remark}
      error={error}
      wayOut={check && <WaysOut check={check} onChoose={(chosen) => set({ code: chosen })} />}
      hint={
        error ? undefined : check?.isFree ? (
          <p role="status" className="flex items-center gap-[5px]">
            <Check className="size-3.5 text-ok" />
            {t.free(`${domain}/${code}`)}
          </p>
        ) : code === "" ? (
          <Checkbox
            label={t.private}
            description={t.privateHint}
            checked={form.isPrivate}
            onCheckedChange={(isPrivate) => set({ isPrivate })}
          />
        ) : (
          <p className="min-h-4" />
        )
      }
    >
      <InputGroup
        prefix={
          domains.length > 1 ? (
            <Select
              look="segment"
              aria-label={t.domain}
              value={domain}
              onValueChange={(chosen) => set({ domain: chosen })}
              options={domains.map((host) => ({ value: host, label: `${host}/` }))}
            />
          ) : (
            `${domain}/`
          )
        }
      >
        <Input
          value={form.code}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          onChange={(event) => set({ code: event.target.value })}
        />
      </InputGroup>
    </Field>
  );
}

function WaysOut({ check, onChoose }: { readonly check: CodeCheck; readonly onChoose: (code: string) => void }) {
  const drawer = useLinkDrawer();
  const queries = useQueryClient();
  const toast = useToast();
  const { link, trashedLink, suggestions } = check;
  if (check.isFree) return null;
  const restore = async (id: string) => {
    try {
      const restored = await call("POST /api/trash/{id}/restore", { path: { id } });
      await refresh(queries, "/api/links", "/api/trash");
      toast({ message: t.restored(shortly(restored.shortUrl)) });
      drawer.edit(restored.id);
    } catch (error) {
      toast({ message: messageOf(error), tone: "bad" });
    }
  };
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      {suggestions.length > 0 && <span className="text-12 text-text-3">{t.suggestions}</span>}
      {suggestions.map((code) => (
        <Chip key={code} onClick={() => onChoose(code)} className="text-text">
          <span className="truncate">{code}</span>
        </Chip>
      ))}
      {suggestions.length > 0 && (link !== null || trashedLink !== null) && <ChipSeparator />}
      {link !== null && <Chip onClick={() => drawer.edit(link)}>{t.openExisting}</Chip>}
      {trashedLink !== null && <Chip onClick={() => void restore(trashedLink)}>{t.restore}</Chip>}
    </div>
  );
}
