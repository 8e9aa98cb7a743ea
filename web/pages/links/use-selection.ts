import { useEffect, useMemo, useState } from "react";
import type { Link } from "../../api/generated.ts";

/** The selected links, kept across pages; or all that match the filter. */
export interface Selection {
  readonly size: number;
  /** Everything that the filter matches, on all pages. */
  readonly isAll: boolean;
  readonly links: readonly Link[];
  has(id: string): boolean;
  set(link: Link, isOn: boolean): void;
  setMany(links: readonly Link[], isOn: boolean): void;
  setAll(): void;
  clear(): void;
}

/** `key`: what is listed. Another list has another selection. `total`: how many links match. */
export function useSelection(key: string, total: number): Selection {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Link>>(new Map());
  const [isAll, setIsAll] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list ends the selection
  useEffect(() => {
    setChosen((held) => (held.size === 0 ? held : new Map()));
    setIsAll(false);
  }, [key]);
  return useMemo(() => {
    const setMany = (links: readonly Link[], isOn: boolean) => {
      setIsAll(false);
      setChosen((held) => {
        const next = new Map(held);
        for (const link of links) {
          if (isOn) next.set(link.id, link);
          else next.delete(link.id);
        }
        return next;
      });
    };
    return {
      size: isAll ? total : chosen.size,
      isAll,
      links: [...chosen.values()],
      has: (id) => isAll || chosen.has(id),
      set: (link, isOn) => setMany([link], isOn),
      setMany,
      setAll: () => setIsAll(true),
      clear: () => {
        setChosen(new Map());
        setIsAll(false);
      },
    };
  }, [chosen, isAll, total]);
}
