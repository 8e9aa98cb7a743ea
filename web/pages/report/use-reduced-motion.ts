import { useSyncExternalStore } from "react";

const media = () => window.matchMedia("(prefers-reduced-motion: reduce)");

/** Whether the reader asked their system for less motion. */
export const useReducedMotion = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      const query = media();
      query.addEventListener("change", listener);
      return () => query.removeEventListener("change", listener);
    },
    () => media().matches,
  );
