/** What floats above the page: one look for menus, popovers and suggestion lists. */
export const popupClass =
  "z-50 rounded-3 bg-raised text-text shadow-2 outline-hidden max-w-[calc(100vw-16px)] transition-opacity duration-(--normal) data-starting-style:opacity-0 data-ending-style:opacity-0";

/** One line of a menu or a suggestion list, without its colours. */
export const popupLineClass =
  "flex min-h-[30px] max-sm:min-h-11 cursor-default items-center gap-2 rounded-1 px-2 py-[5px] text-left outline-hidden select-none data-disabled:text-text-disabled";

export const popupItemClass = `${popupLineClass} data-highlighted:bg-hover [&_svg]:text-text-3`;
export const popupDangerClass = `${popupLineClass} text-bad data-highlighted:bg-bad-soft`;

/** Gaps between a trigger and its popup, and between the popup and the edge of the window. */
export const popupGapPx = 4;
export const popupEdgePx = 8;

/** Marks everything that floats above a dialog: menus, popovers, suggestion lists. */
export const popupMark = { "data-popup": "" } as const;

interface Closing {
  readonly reason: string;
  cancel(): void;
  allowPropagation(): void;
}

/**
 * Whether Esc belongs to a popup above this dialog. Base UI closes both when the popup does not have the focus, or when a control
 * inside of it keeps the key to itself: the dialog then leaves the key to the popup.
 */
export function leavesEscToPopup(closing: Closing): boolean {
  if (closing.reason !== "escape-key" || document.querySelector("[data-popup][data-open]") === null) return false;
  closing.cancel();
  closing.allowPropagation();
  return true;
}
