import { isMac } from "../keys.ts";
import { shellTexts, shortcutTexts as t } from "../texts/shell.ts";
import { Kbd } from "../ui/chip.tsx";
import { Dialog } from "../ui/dialog.tsx";

const groups = [
  {
    name: t.everywhere,
    rows: [
      [t.search, isMac ? "⌘K" : "Ctrl K"],
      [t.newLink, "N"],
      [t.go, t.goKeys],
      [t.help, "?"],
      [t.close, "Esc"],
    ],
  },
  {
    name: t.lists,
    rows: [
      [t.filter, "/"],
      [t.move, "J K"],
      [t.open, "Enter"],
      [t.select, "X"],
      [t.selectRange, "Shift X"],
      [t.copy, "C"],
      [t.edit, "E"],
      [t.qr, "Q"],
      [t.delete, "⌫"],
    ],
  },
  {
    name: t.forms,
    rows: [
      [t.submit, isMac ? "⌘↵" : "Ctrl ↵"],
      [t.moveRule, isMac ? "⌥↑ ⌥↓" : "Alt ↑ ↓"],
    ],
  },
  {
    name: t.reports,
    rows: [
      [t.periods, "[ ]"],
      [t.filter, "/"],
      [t.barFilter, t.click],
      [t.barExclude, t.altClick],
      [t.removeFilter, "⌫"],
      [t.zoom, t.zoomKeys],
    ],
  },
] as const;

export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} size="lg" title={t.title} closeLabel={shellTexts.close}>
      <div className="gap-10 pb-4 sm:columns-2">
        {groups.map(({ name, rows }) => (
          <section key={name} className="mb-4 break-inside-avoid">
            <h3 className="mb-1 text-12 text-text-3">{name}</h3>
            <dl>
              {rows.map(([what, keys]) => (
                <div
                  key={what}
                  className="flex items-center justify-between gap-4 border-b border-line py-1.5 last:border-0"
                >
                  <dt>{what}</dt>
                  <dd>
                    <Kbd>{keys}</Kbd>
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
