import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import Copy from "lucide-react/icons/copy";
import Keyboard from "lucide-react/icons/keyboard";
import Link2 from "lucide-react/icons/link";
import Plus from "lucide-react/icons/plus";
import Search from "lucide-react/icons/search";
import { useId, useMemo, useState } from "react";
import { listQuery } from "../api/queries.ts";
import { useSettled } from "../forms.ts";
import { shellTexts, shortcutTexts, paletteTexts as t } from "../texts/shell.ts";
import { Kbd } from "../ui/chip.tsx";
import { copyText } from "../ui/copy-text.ts";
import { scrimClass } from "../ui/dialog.tsx";
import { useWorkspace } from "../workspace.ts";
import { useLinkDrawer } from "./link-drawer.ts";
import { pages } from "./pages.ts";

interface Entry {
  readonly key: string;
  readonly group: string;
  readonly text: string;
  readonly hint?: string | undefined;
  readonly shortcut?: string;
  readonly icon: React.ComponentType<{ className?: string }>;
  run(): void;
}

const linksMost = 8;
/** A search without an index may take a moment; nothing is asked for single letters. */
const leastLetters = 2;

/** Links, pages and actions in one list: what people type first is usually a link. */
export function Palette({ onClose, onHelp }: { readonly onClose: () => void; readonly onHelp: () => void }) {
  const { slug, can } = useWorkspace();
  const navigate = useNavigate();
  const drawer = useLinkDrawer();
  const list = useId();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const words = text.trim();
  const asked = useSettled(words, 150);
  const { data: found, isFetching } = useQuery({
    ...listQuery(slug, "GET /api/links", { search: asked, limit: linksMost }),
    enabled: asked.length >= leastLetters,
    placeholderData: (before) => before,
  });

  const entries = useMemo((): Entry[] => {
    const fits = (name: string) => name.toLowerCase().includes(words.toLowerCase());
    const links =
      asked.length < leastLetters || words === ""
        ? []
        : (found?.items ?? []).map((link) => ({
            key: link.id,
            group: t.links,
            text: link.shortUrl.replace(/^https?:\/\//, ""),
            hint: link.title ?? link.url ?? undefined,
            icon: Link2,
            run: () =>
              void navigate({
                to: "/w/$workspace/links/$link",
                params: { workspace: slug, link: link.id },
                search: {},
              }),
          }));
    const address = isAddress(words) && can("links:write");
    const actions: Entry[] = [
      ...(can("links:write")
        ? [
            {
              key: "new",
              group: t.actions,
              text: address ? `${shellTexts.newLink}: ${words}` : shellTexts.newLink,
              shortcut: "N",
              icon: Plus,
              run: () => drawer.create(address ? words : undefined),
            },
          ]
        : []),
      ...(found?.items[0] !== undefined && links.length > 0
        ? [
            {
              key: "copy",
              group: t.actions,
              text: t.copy(links[0]?.text ?? ""),
              icon: Copy,
              run: () => void copyText(found.items[0]?.shortUrl ?? ""),
            },
          ]
        : []),
      {
        key: "help",
        group: t.actions,
        text: shortcutTexts.title,
        shortcut: "?",
        icon: Keyboard,
        run: onHelp,
      },
    ];
    const shownPages = pages
      .filter(({ needs }) => can(needs))
      .map(({ to, name, icon }) => ({
        key: to,
        group: t.pages,
        text: name,
        icon,
        run: () => void navigate({ to, params: { workspace: slug }, search: {} }),
      }));
    const kept = (entry: Entry) => words === "" || entry.key === "copy" || fits(entry.text);
    const first = address ? actions.slice(0, 1) : [];
    return [...first, ...links, ...shownPages.filter(kept), ...actions.filter(kept).slice(first.length)];
  }, [found, words, asked, can, slug, navigate, drawer, onHelp]);

  const chosen = entries[Math.min(at, entries.length - 1)];
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };

  function onKeyDown(event: React.KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((before) => (Math.min(before, entries.length - 1) + step + entries.length) % entries.length);
    } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      run(chosen);
    }
  }

  const groups = [...new Set(entries.map(({ group }) => group))];
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={scrimClass} />
        <Dialog.Popup className="fixed inset-x-0 top-[12dvh] z-40 mx-auto flex max-h-[70dvh] w-[min(560px,calc(100vw-24px))] flex-col overflow-hidden rounded-4 bg-raised shadow-3 outline-hidden">
          <Dialog.Title className="sr-only">{t.title}</Dialog.Title>
          <label className="flex h-12 flex-none items-center gap-2.5 border-b border-line px-4">
            <Search className="size-4 text-text-3" aria-hidden />
            <input
              // biome-ignore lint/a11y/noAutofocus: the dialog was opened to type here.
              autoFocus
              type="text"
              role="combobox"
              aria-expanded
              aria-controls={list}
              aria-activedescendant={chosen && `${list}-${chosen.key}`}
              aria-label={t.title}
              placeholder={t.placeholder}
              autoComplete="off"
              spellCheck={false}
              className="h-full flex-1 bg-transparent text-14 outline-hidden max-sm:text-16"
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                setAt(0);
              }}
              onKeyDown={onKeyDown}
            />
          </label>
          <div id={list} role="listbox" aria-label={t.title} className="overflow-y-auto p-1.5">
            {groups.map((group) => (
              // biome-ignore lint/a11y/useSemanticElements: a listbox has groups, not fieldsets.
              <div key={group} role="group" aria-label={group} className="mb-1.5">
                <p aria-hidden className="px-2.5 py-1 text-12 text-text-3">
                  {group}
                </p>
                {entries
                  .filter((entry) => entry.group === group)
                  .map((entry) => {
                    const Icon = entry.icon;
                    return (
                      // biome-ignore lint/a11y/useKeyWithClickEvents: the keys act in the field, which keeps the focus.
                      <div
                        key={entry.key}
                        id={`${list}-${entry.key}`}
                        role="option"
                        tabIndex={-1}
                        aria-selected={entry === chosen}
                        onClick={() => run(entry)}
                        onPointerMove={() => setAt(entries.indexOf(entry))}
                        className="flex h-9 cursor-pointer items-center gap-2.5 rounded-2 px-2.5 aria-selected:bg-hover max-sm:h-11"
                      >
                        <Icon className="size-4 shrink-0 text-text-3" />
                        <span className="max-w-[60%] shrink-0 truncate">{entry.text}</span>
                        <span className="min-w-0 flex-1 truncate text-12 text-text-3">{entry.hint}</span>
                        {entry.shortcut && (
                          <span className="inline-flex max-sm:hidden">
                            <Kbd>{entry.shortcut}</Kbd>
                          </span>
                        )}
                      </div>
                    );
                  })}
              </div>
            ))}
            {entries.length === 0 && <p className="px-2.5 py-4 text-text-2">{t.nothing(words)}</p>}
          </div>
          <p role="status" className="sr-only">
            {isFetching ? t.loading : t.results(entries.length)}
          </p>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

const isAddress = (text: string): boolean => /^https?:\/\/\S+$/i.test(text);
