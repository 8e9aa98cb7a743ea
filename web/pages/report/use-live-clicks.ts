import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { Click } from "../../api/generated.ts";
import { type LiveState, liveState, onLive, onLiveState } from "../../api/live.ts";
import { useWorkspace } from "../../workspace.ts";
import { notInStream } from "./not-in-stream.ts";
import { readClicks, type Subject } from "./report-query.ts";

/** A click as the stream and the list show it. */
export type LiveClick = Omit<Click, "first" | "weight" | "link"> & {
  readonly link: { readonly domain: string; readonly code: string; readonly id?: string | null };
  readonly key: string;
  /** Arrived while somebody looks at it. */
  readonly isFresh: boolean;
};

export interface LiveClicks {
  readonly clicks: readonly LiveClick[];
  readonly state: LiveState;
  /** Clicks of other servers are missing. */
  readonly isThisServerOnly: boolean;
  /** Too fast to be shown one by one. */
  readonly notShown: number;
  readonly isLoading: boolean;
  readonly error: unknown;
  retry(): void;
}

const keptMost = 60;
const listed = 12;
/** Reports are read again after a click, but not for every one of them; those of a whole workspace cost more. */
const rereadMs = { link: 5_000, workspace: 20_000 } as const;

/** The newest clicks, first from the list and then from the stream. The figures on the page follow. */
export function useLiveClicks(
  subject: Subject,
  link: { readonly domain: string; readonly code: string } | undefined,
): LiveClicks {
  const { slug } = useWorkspace();
  const queries = useQueryClient();
  const state = useSyncExternalStore(onLiveState, liveState);
  const [fresh, setFresh] = useState<readonly LiveClick[]>([]);
  const [isThisServerOnly, setThisServerOnly] = useState(false);
  const [notShown, setNotShown] = useState(0);
  const about = subject.kind === "link" ? subject.id : "";
  const list = useQuery({
    queryKey: ["/api/clicks", slug, about, "live"],
    queryFn: ({ signal }) =>
      readClicks(
        subject,
        { range: undefined, zone: undefined, filters: [], traffic: "all" },
        { limit: listed },
        signal,
      ),
    // The stream is newer than any list.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const arrived = useRef(0);
  const reread = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [domain, code] = [link?.domain, link?.code];

  useEffect(() => {
    setFresh([]);
    const stop = onLive(({ event, data }) => {
      if (event === "begun") setThisServerOnly(false);
      if (event === "notice") setThisServerOnly((data as { code: string }).code === "this_server_only");
      if (event === "more") setNotShown((data as { clicks: number }).clicks);
      if (event !== "click") return;
      const click = data as LiveClick;
      const isOther = code !== undefined && (click.link.code !== code || click.link.domain !== domain);
      if (subject.kind === "link" && (code === undefined || isOther)) return;
      setNotShown(0);
      setFresh((before) =>
        [{ ...click, key: `live ${arrived.current++}`, isFresh: true }, ...before].slice(0, keptMost),
      );
      reread.current ??= setTimeout(() => {
        reread.current = undefined;
        void queries.invalidateQueries({ predicate: ({ queryKey: [path] }) => path === "/api/stats" });
      }, rereadMs[subject.kind]);
    });
    return () => {
      stop();
      clearTimeout(reread.current);
      reread.current = undefined;
    };
  }, [subject.kind, domain, code, queries]);

  const clicks = useMemo(() => {
    const seen = new Map<string, number>();
    const before = notInStream(fresh, list.data?.items ?? []).map((click) => {
      const nth = (seen.get(click.at) ?? 0) + 1;
      seen.set(click.at, nth);
      return { ...click, key: `${click.at} ${nth}`, isFresh: false };
    });
    return [...fresh, ...before].slice(0, keptMost);
  }, [fresh, list.data]);

  return {
    ...{ clicks, state, isThisServerOnly, notShown },
    isLoading: list.isPending,
    error: list.data === undefined ? list.error : null,
    retry: () => void list.refetch(),
  };
}
