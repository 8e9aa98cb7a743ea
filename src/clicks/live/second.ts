/**
 * Chooses what a tenant's streams show of one second. At most `most` clicks are shown; the rest is counted, and told as
 * one number when the second ends. No link may hide the others: one link gets at most `ofOneLinkMost` of the places, and
 * when more clicks come at once than are left, links take turns.
 */
export interface Second {
  /** In the order of `clicks`. What is left out is counted. */
  choose<Click>(clicks: readonly Click[], linkOf: (click: Click) => string | number): readonly Click[];
  /** Whether one more event about a limit may be shown. If not, it is counted. */
  admitsQuota(): boolean;
  /** Left out elsewhere, or not shown for another reason. */
  leaveOut(more: LeftOut): void;
  /** What was left out. The next second begins. */
  end(): LeftOut;
}

export interface LeftOut {
  readonly clicks: number;
  readonly quotas: number;
}

/** More than a person can read, and 20 KB a second for each reader. */
export const shownMost = 50;
const ofOneLinkMost = 40;
const quotasMost = 20;

export function createSecond(): Second {
  let left = shownMost;
  let quotasLeft = quotasMost;
  let [clicksOut, quotasOut] = [0, 0];
  const byLink = new Map<string | number, number>();

  return {
    choose(clicks, linkOf) {
      // A busy tenant has several batches a second: only the first is looked at.
      if (left === 0) {
        clicksOut += clicks.length;
        return [];
      }
      const lines = new Map<string | number, number[]>();
      for (const [place, click] of clicks.entries()) {
        const link = linkOf(click);
        const line = lines.get(link);
        if (line === undefined) lines.set(link, [place]);
        else if (line.length < ofOneLinkMost) line.push(place);
      }
      const taken: number[] = [];
      for (let turn = 0; left > 0 && turn < ofOneLinkMost; turn++) {
        const before = taken.length;
        for (const [link, line] of lines) {
          const place = line[turn];
          const used = byLink.get(link) ?? 0;
          if (left === 0 || place === undefined || used >= ofOneLinkMost) continue;
          taken.push(place);
          byLink.set(link, used + 1);
          left--;
        }
        if (taken.length === before) break;
      }
      clicksOut += clicks.length - taken.length;
      return taken.sort((a, b) => a - b).flatMap((place) => clicks.slice(place, place + 1));
    },
    admitsQuota() {
      const admitted = quotasLeft > 0;
      if (admitted) quotasLeft--;
      else quotasOut++;
      return admitted;
    },
    leaveOut({ clicks, quotas }) {
      clicksOut += clicks;
      quotasOut += quotas;
    },
    end() {
      const out = { clicks: clicksOut, quotas: quotasOut };
      left = shownMost;
      quotasLeft = quotasMost;
      [clicksOut, quotasOut] = [0, 0];
      byLink.clear();
      return out;
    },
  };
}
