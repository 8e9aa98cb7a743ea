import type { RefObject } from "react";

/**
 * Where the focus goes when a dialog opens: into its first field, or into its body, which then scrolls by keyboard, but never on
 * the × of its header. Opened by touch, the dialog
 * itself gets it, or the keyboard of the phone would cover half of the form.
 */
export function firstControl(body: RefObject<HTMLElement | null>) {
  return (how: string): HTMLElement | true => {
    if (how === "touch") return true;
    return body.current?.querySelector<HTMLElement>("input, select, textarea, button, a[href]") ?? body.current ?? true;
  };
}
