import { useSyncExternalStore } from "react";

const phone = typeof matchMedia === "undefined" ? undefined : matchMedia("(width < 640px)");

/** Whether there is room for a list only. */
export const useIsPhone = (): boolean =>
  useSyncExternalStore(
    (changed) => {
      phone?.addEventListener("change", changed);
      return () => phone?.removeEventListener("change", changed);
    },
    () => phone?.matches ?? false,
  );
