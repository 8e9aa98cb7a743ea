import { useEffect, useRef } from "react";

/**
 * Shortcuts of the page. They do not act while somebody types, or while a dialog or menu is open, except those that say so.
 * Two keys after each other, such as "g l", are one shortcut.
 */
export interface Shortcut {
  /** As `event.key` says it, in lower case: "n", "?", "mod+k", "g l", "shift+x". `mod` is ⌘ on a Mac and Ctrl elsewhere. */
  readonly keys: string;
  run(event: KeyboardEvent): void;
  readonly whileTyping?: boolean;
}

export const isMac = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

const sequenceMs = 1_000;

export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    let before = "";
    let beforeAt = 0;
    function pressed(event: KeyboardEvent): void {
      if (event.defaultPrevented || event.isComposing) return;
      const key = nameOf(event);
      const sequence = event.timeStamp - beforeAt < sequenceMs ? `${before} ${key}` : key;
      const busy = isBusy(event) || isPress(event);
      const fits = (keys: string) =>
        latest.current.find((one) => one.keys === keys && (!busy || one.whileTyping === true));
      const found = fits(sequence) ?? fits(key);
      [before, beforeAt] = [key, event.timeStamp];
      if (found === undefined) return;
      event.preventDefault();
      before = "";
      found.run(event);
    }
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}

function nameOf(event: KeyboardEvent): string {
  const mod = isMac ? event.metaKey : event.ctrlKey;
  const other = isMac ? event.ctrlKey : event.metaKey;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const shift = event.shiftKey && /^[a-z]$/.test(key) ? "shift+" : "";
  return `${mod ? "mod+" : ""}${other ? "other+" : ""}${event.altKey ? "alt+" : ""}${shift}${key.toLowerCase()}`;
}

function isBusy({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest("[role=dialog],[role=menu],[role=listbox]") !== null) return true;
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || isText(target);
}

/** Enter and Space press the button or link that has the focus. */
const isPress = ({ key, target }: KeyboardEvent): boolean =>
  (key === "Enter" || key === " ") &&
  target instanceof HTMLElement &&
  target.closest("button,a,summary,input,[role=button]") !== null;

const isText = (target: HTMLElement): boolean =>
  target instanceof HTMLInputElement && !["checkbox", "radio", "button", "range"].includes(target.type);
