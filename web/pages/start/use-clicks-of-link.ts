import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { send } from "../../api/call.ts";
import type { Click, ClickPage, Link as ShortLink } from "../../api/generated.ts";
import { type LiveState, liveState, onLive, onLiveState } from "../../api/live.ts";
import { instantOf, newestFirst } from "../../instants.ts";

/** A click as the live stream shows it. */
export type LiveClick = Pick<
  Click,
  "at" | "reason" | "country" | "region" | "city" | "device" | "browser" | "os" | "referrer" | "source"
>;

const pollMs = 2_500;
const shownMost = 5;

/** The newest clicks of a link as they happen. While the stream is paused they are looked up. */
export function useClicksOfLink(link: ShortLink): { readonly clicks: readonly LiveClick[]; readonly state: LiveState } {
  const [clicks, setClicks] = useState<readonly LiveClick[]>([]);
  const state = useSyncExternalStore(onLiveState, liveState);
  const known = useRef(new Set<string>());

  const [add] = useState(() => (found: readonly LiveClick[]) => {
    const fresh = found.filter(({ at, reason }) => {
      const key = `${instantOf(at)} ${reason}`;
      return !known.current.has(key) && known.current.add(key);
    });
    if (fresh.length === 0) return;
    setClicks((before) => [...fresh, ...before].toSorted(newestFirst).slice(0, shownMost));
  });

  useEffect(
    () =>
      onLive(({ event, data }) => {
        if (event !== "click") return;
        const click = data as LiveClick & { readonly link: { readonly domain: string; readonly code: string } };
        if (click.link.code === link.code && click.link.domain === link.domain) add([click]);
      }),
    [link, add],
  );

  useEffect(() => {
    if (state === "live") return;
    const asked = new AbortController();
    const look = async () => {
      const options = { path: { id: link.id }, query: { limit: shownMost }, signal: asked.signal };
      const answer = await send("GET /api/links/{id}/clicks", options).catch(() => undefined);
      if (answer !== undefined) add(((await answer.json()) as ClickPage).items);
    };
    const timer = setInterval(() => void look(), pollMs);
    return () => {
      clearInterval(timer);
      asked.abort();
    };
  }, [state, link, add]);

  return { clicks, state };
}
