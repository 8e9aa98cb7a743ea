import { Link, useParams } from "@tanstack/react-router";
import ChevronRight from "lucide-react/icons/chevron-right";
import type { HistoryEntry } from "../../api/generated.ts";
import { formatDateTime, formatRelative } from "../../format.ts";
import { logTexts as t } from "../../texts/log.ts";
import { buttonClass } from "../../ui/button-class.ts";

/** One change as a sentence; the fields that changed are folded. */
export function LogEntry({ entry }: { readonly entry: HistoryEntry }) {
  const { before, after } = entry;
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const line = <Sentence entry={entry} />;
  return (
    <li className="border-t border-line first:border-t-0">
      {fields.length === 0 ? (
        <div className="flex min-h-[42px] items-center gap-2 py-2 pr-3.5 pl-9">{line}</div>
      ) : (
        <details className="group/entry">
          <summary className="flex min-h-[42px] list-none items-center gap-2 px-3.5 py-2 hover:bg-hover focus-visible:-outline-offset-2 [&::-webkit-details-marker]:hidden">
            <ChevronRight className="size-3.5 flex-none text-text-3 group-open/entry:rotate-90" aria-hidden />
            {line}
          </summary>
          <table className="mb-3 ml-9 w-[calc(100%-3.25rem)] table-fixed text-12">
            <caption className="sr-only">{t.changes}</caption>
            <thead className="text-text-3">
              <tr>
                <th className="w-36 py-1 pr-3 text-left font-medium">{t.field}</th>
                <th className="py-1 pr-3 text-left font-medium">{t.before}</th>
                <th className="py-1 text-left font-medium">{t.after}</th>
              </tr>
            </thead>
            <tbody>
              {fields.map((field) => (
                <tr key={field} className="align-top">
                  <th scope="row" className="py-1 pr-3 text-left font-normal text-text-2">
                    {field}
                  </th>
                  <td className="py-1 pr-3">{valueText(before?.[field])}</td>
                  <td className="py-1">{valueText(after?.[field])}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {entry.subject.kind === "link" && (
            <p className="mb-3 ml-9">
              <OpenLink id={entry.subject.id} />
            </p>
          )}
        </details>
      )}
    </li>
  );
}

function Sentence({ entry }: { readonly entry: HistoryEntry }) {
  const { at, action, subject } = entry;
  const what = (t.actions as Readonly<Record<string, string>>)[action] ?? action;
  return (
    <>
      <span className="min-w-0 flex-1 sm:truncate">
        <span className="font-medium">{actorName(entry)}</span> <span className="text-text-2">{what}</span>{" "}
        {subject.name ?? (nameless.has(subject.kind) ? "" : subject.id)}
      </span>
      <time dateTime={at} title={formatDateTime(at)} className="flex-none text-12 text-text-3">
        {formatRelative(at)}
      </time>
    </>
  );
}

/** The workspace is the one whose log this is, and reports are shared under random names: an ID would say nothing. */
const nameless: ReadonlySet<string> = new Set(["workspace", "share"]);

/** Not in the operator's log, which belongs to no workspace. */
function OpenLink({ id }: { readonly id: string }) {
  const { workspace } = useParams({ strict: false });
  if (workspace === undefined) return null;
  return (
    <Link
      to="/w/$workspace/links/$link"
      params={{ workspace, link: id }}
      search={{}}
      className={buttonClass({ size: "sm" })}
    >
      {t.openLink}
    </Link>
  );
}

export function actorName({ by }: Pick<HistoryEntry, "by">): string {
  switch (by.kind) {
    case "person":
      return by.name ?? t.gonePerson;
    case "key":
      return by.name ?? t.goneKey;
    case "command":
      return by.name ?? t.command;
    case "job":
      return t.job;
    case "nobody":
      return t.nobody;
  }
}

function valueText(value: unknown): string {
  if (value === undefined || value === null || value === "") return t.empty;
  return typeof value === "string" ? value : JSON.stringify(value);
}
