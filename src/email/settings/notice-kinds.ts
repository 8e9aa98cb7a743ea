/**
 * Emails about clicks, each of which a tenant switches on or off. They go to its contact address; a tenant without one
 * gets none.
 */
export const noticeKinds = {
  firstClick: { isOn: false, about: "the first click of a link" },
  spike: { isOn: true, about: "a link that gets many more clicks than usual" },
  drop: { isOn: false, about: "a busy link that gets hardly any clicks" },
  deadTarget: { isOn: true, about: "a link whose destination no longer works" },
  digest: { isOn: true, about: "the weekly summary of clicks" },
} as const satisfies Record<string, { readonly isOn: boolean; readonly about: string }>;

export type NoticeKind = keyof typeof noticeKinds;
export type NoticeSwitches = Readonly<Record<NoticeKind, boolean>>;

export const noticeNames = Object.keys(noticeKinds) as NoticeKind[];
export const isNoticeKind = (name: string): name is NoticeKind => Object.hasOwn(noticeKinds, name);

export const defaultSwitches = Object.fromEntries(
  noticeNames.map((name) => [name, noticeKinds[name].isOn]),
) as NoticeSwitches;

/** As stored: since when a kind is on, or null if it is off. What the tenant has not chosen is not in it. */
export type StoredSwitches = Readonly<Partial<Record<NoticeKind, number | null>>>;

export const readSwitches = (stored: string | null): StoredSwitches =>
  stored === null ? {} : (JSON.parse(stored) as StoredSwitches);

export const switchesOf = (stored: string | null): NoticeSwitches => {
  const chosen = readSwitches(stored);
  return Object.fromEntries(
    noticeNames.map((name) => {
      const since = chosen[name];
      return [name, since === undefined ? noticeKinds[name].isOn : since !== null];
    }),
  ) as NoticeSwitches;
};

/** A kind that was already on stays on since then. */
export function changeSwitches(stored: string | null, change: Partial<NoticeSwitches>, now: number): string {
  const before = readSwitches(stored);
  const changed = Object.entries(change).map(([name, isOn]) => [
    name,
    isOn ? (before[name as NoticeKind] ?? now) : null,
  ]);
  return JSON.stringify({ ...before, ...Object.fromEntries(changed) });
}
