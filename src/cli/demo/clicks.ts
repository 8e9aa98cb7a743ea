import { dayMs } from "../../base/clock.ts";
import { type ClickBatch, type ClickedLink, type ClickFacts, dimensions } from "../../clicks/click.ts";
import { hitReasons } from "../../redirect/decide.ts";
import type { Dice, Weighted } from "./random.ts";
import type { DemoLink } from "./world.ts";

/** Clicks of one day, with facts that go together: who is in Austria speaks German, and an iPhone has Safari. */
export interface DemoTarget {
  readonly about: DemoLink;
  readonly clicked: ClickedLink;
}

interface Click {
  readonly link: ClickedLink;
  readonly at: number;
  readonly reason: number;
  readonly visitor: number;
  readonly facts: Partial<ClickFacts>;
}

export function clicksOfDay(
  targets: readonly DemoTarget[],
  start: number,
  until: number,
  today: number,
  dice: Dice,
): Click[] {
  const clicks: Click[] = [];
  const tuned = season(start) * (0.75 + (0.5 * (365 - (today - start) / dayMs)) / 365);
  for (const { about, clicked } of targets) {
    const lived = Math.floor((start - (today - about.age * dayMs)) / dayMs);
    if (lived < 0) continue;
    const people = dice.poisson(about.perDay * tuned * own(about, start, lived));
    for (let n = 0; n < people; n++) {
      const at = start + timeOfDay(dice);
      if (at < until) clicks.push(ofPerson(about, clicked, at, dice));
    }
    const bots = dice.poisson(0.2 + about.perDay * 0.06);
    for (let n = 0; n < bots; n++) {
      const at = start + dice.below(dayMs);
      if (at < until) clicks.push(ofBot(clicked, at, dice));
    }
  }
  return clicks.sort((a, b) => a.at - b.at);
}

export function batchOfClicks(clicks: readonly Click[]): ClickBatch {
  const texts = new Map<string, number>([["", 0]]);
  const links = new Map<ClickedLink, number>();
  const placeIn = <Key>(map: Map<Key, number>, key: Key): number => {
    const place = map.get(key) ?? map.size;
    map.set(key, place);
    return place;
  };
  const facts = clicks.flatMap((click) => dimensions.map((name) => placeIn(texts, click.facts[name] ?? "")));
  const link = clicks.map((click) => placeIn(links, click.link));
  return {
    ...{ texts: [...texts.keys()], links: [...links.keys()], bare: [], dropped: 0, excluded: 0 },
    at: Float64Array.from(clicks, ({ at }) => at),
    link: Uint16Array.from(link),
    reason: Uint8Array.from(clicks, ({ reason }) => reason),
    visitor: Float64Array.from(clicks, ({ visitor }) => visitor),
    facts: Uint16Array.from(facts),
  };
}

/** Weekends are quieter, December and May are busier. */
function season(start: number): number {
  const date = new Date(start);
  const isWeekend = date.getUTCDay() === 0 || date.getUTCDay() === 6;
  const month = [0.9, 0.85, 1, 1.1, 1.25, 1.15, 1, 0.9, 0.95, 1, 1.2, 1.35][date.getUTCMonth()] ?? 1;
  return month * (isWeekend ? 0.7 : 1.1);
}

function own({ peakDay, bursts = [] }: DemoLink, start: number, lived: number): number {
  const day = Math.floor((start - Date.UTC(new Date(start).getUTCFullYear(), 0)) / dayMs);
  const away = peakDay === undefined ? 0 : Math.min(Math.abs(day - peakDay), 365 - Math.abs(day - peakDay));
  const peak = peakDay === undefined ? 1 : 0.15 + 2.2 * Math.exp(-((away / 35) ** 2));
  // A mail is opened on its day, and by some on the next ones.
  const burst = bursts.reduce((sum, sent) => sum + (lived < sent ? 0 : 9 * 0.35 ** (lived - sent)), 0);
  return peak + burst;
}

/** Few at night, most at lunch and in the evening. In UTC. */
const hours = [2, 1, 1, 1, 2, 4, 8, 12, 14, 14, 15, 18, 17, 13, 12, 12, 13, 15, 19, 20, 17, 12, 7, 4];

function timeOfDay(dice: Dice): number {
  const hour = dice.pick(hours.map((weight, place): Weighted<number> => [place, weight]));
  return hour * 3_600_000 + dice.below(3_600_000);
}

type Place = readonly [country: string, region: string, city: string, language: string];

const places: readonly Weighted<Place>[] = [
  [["DE", "Berlin", "Berlin", "de"], 18],
  [["DE", "Bavaria", "Munich", "de"], 13],
  [["DE", "Hamburg", "Hamburg", "de"], 8],
  [["AT", "Vienna", "Vienna", "de"], 9],
  [["CH", "Zurich", "Zurich", "de"], 7],
  [["US", "California", "San Francisco", "en"], 8],
  [["US", "Colorado", "Denver", "en"], 6],
  [["GB", "England", "London", "en"], 7],
  [["FR", "Auvergne-Rhône-Alpes", "Lyon", "fr"], 5],
  [["IT", "South Tyrol", "Bolzano", "it"], 4],
  [["NL", "North Holland", "Amsterdam", "nl"], 3],
  [["PL", "Mazovia", "Warsaw", "pl"], 2],
  [["SE", "Stockholm", "Stockholm", "sv"], 2],
  [["JP", "Tokyo", "Tokyo", "ja"], 1],
  [["IN", "Karnataka", "Bengaluru", "en"], 2],
  [["BR", "São Paulo", "São Paulo", "pt"], 1],
];

type Agent = readonly [device: string, os: string, browser: string];

const agents: readonly Weighted<Agent>[] = [
  [["mobile", "ios", "Safari"], 30],
  [["mobile", "android", "Chrome"], 26],
  [["desktop", "windows", "Chrome"], 14],
  [["desktop", "windows", "Edge"], 7],
  [["desktop", "macos", "Safari"], 7],
  [["desktop", "macos", "Chrome"], 5],
  [["desktop", "linux", "Firefox"], 4],
  [["tablet", "ios", "Safari"], 4],
  [["mobile", "android", "Samsung Internet"], 3],
];

const referrers: readonly Weighted<string>[] = [
  ["", 46],
  ["www.google.com", 18],
  ["www.instagram.com", 9],
  ["www.facebook.com", 6],
  ["www.reddit.com", 4],
  ["news.ycombinator.com", 2],
  ["www.alpine-magazine.example", 5],
  ["t.co", 4],
  ["duckduckgo.com", 3],
  ["www.linkedin.com", 3],
];

const bots: readonly Weighted<string>[] = [
  ["crawler", 5],
  ["preview", 4],
  ["monitor", 2],
  ["ai", 3],
  ["other", 1],
];

const visitorsMost = 2 ** 48;

function ofPerson(about: DemoLink, link: ClickedLink, at: number, dice: Dice): Click {
  const [country, region, city, language] = dice.pick(places);
  const [device, os, browser] = about.isPrinted && dice.next() < 0.8 ? agentOfPhone(dice) : dice.pick(agents);
  const isScanned = device !== "desktop" && dice.next() < (about.isPrinted ? 0.75 : 0.04);
  const isSent = about.referrer !== undefined && dice.next() < 0.6;
  const referrer = isScanned ? "" : isSent ? (about.referrer ?? "") : dice.pick(referrers);
  const { utm, split } = about.more ?? {};
  const variant = split === undefined ? "" : dice.next() < 2 / 3 ? "split 1" : "split 2";
  // About every fifth click is of somebody who comes again on the same day.
  const visitor = 1 + (dice.next() < 0.3 ? dice.below(Math.ceil(about.perDay / 5)) : dice.below(visitorsMost));
  return {
    ...{ link, at, reason: 0, visitor },
    facts: {
      ...{ country, language, device, os, browser, referrer, variant },
      ...{ region: `${region}, ${country}`, city: `${city}, ${region}, ${country}` },
      ...{ source: isScanned ? "qr" : "link", utm_source: utm?.source ?? "", utm_campaign: utm?.campaign ?? "" },
    },
  };
}

function agentOfPhone(dice: Dice): Agent {
  return dice.next() < 0.55 ? ["mobile", "ios", "Safari"] : ["mobile", "android", "Chrome"];
}

function ofBot(link: ClickedLink, at: number, dice: Dice): Click {
  const reason = dice.pick<(typeof hitReasons)[number]>([
    ["bot", 8],
    ["preview", 1],
    ["head", 1],
  ]);
  const facts = { country: "US", bot: dice.pick(bots), source: "link" };
  return { link, at, reason: hitReasons.indexOf(reason), visitor: 0, facts };
}
