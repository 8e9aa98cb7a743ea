import { dayMs } from "../../base/clock.ts";
import type { LinkInput } from "../../links/links.ts";

/** The links of the demo: a shop for outdoor gear, with campaigns, printed codes, documents and old things. */
export interface DemoLink {
  readonly code: string;
  readonly title: string;
  readonly path: string;
  readonly tags: readonly string[];
  /** Clicks on an ordinary day. */
  readonly perDay: number;
  /** Created so many days ago. */
  readonly age: number;
  /** On the custom domain. */
  readonly isCustom?: boolean;
  /** The season in which it is wanted: the day of the year of its peak. */
  readonly peakDay?: number;
  /** Days after its creation on which it was sent around. */
  readonly bursts?: readonly number[];
  /** Most of its visitors scan a code. */
  readonly isPrinted?: boolean;
  /** This share of its monthly limit is used. */
  readonly usedShare?: number;
  /** Its destination no longer exists. */
  readonly isDead?: boolean;
  readonly isDeleted?: boolean;
  readonly referrer?: string;
  readonly more?: LinkInput;
}

export const demoDomain = "go.alder.example";
/** A page that exists: links on the server's own address can be tried. */
const site = "https://www.example.com/alder";
/** Hosts of links on the custom domain, which nobody can open: names below .example belong to nobody. */
const hosts: Readonly<Record<string, string>> = {
  ...{ campaign: "shop", product: "shop", blog: "blog", guide: "guides", help: "help", event: "events" },
  ...{ newsletter: "mail", social: "media", company: "jobs" },
};

const campaigns: readonly DemoLink[] = [
  {
    ...{
      code: "winter",
      title: "Winter sale",
      path: "/sale/winter",
      tags: ["campaign", "winter"],
      perDay: 40,
      age: 330,
    },
    ...{
      isCustom: true,
      peakDay: 345,
      bursts: [2, 30, 300],
      more: { utm: { source: "newsletter", campaign: "winter" } },
    },
  },
  {
    ...{ code: "spring", title: "Spring collection", path: "/new/spring", tags: ["campaign", "spring"], perDay: 34 },
    ...{ age: 250, isCustom: true, peakDay: 95, bursts: [1, 14, 28] },
    more: {
      split: [
        { url: `${site}/new/spring`, weight: 2 },
        { url: `${site}/new/spring-b`, weight: 1 },
      ],
    },
  },
  {
    ...{ code: "summer", title: "Summer tents", path: "/tents", tags: ["campaign", "summer"], perDay: 30, age: 200 },
    ...{ peakDay: 190, bursts: [3, 40], usedShare: 0.86 },
  },
  {
    ...{
      code: "newsletter",
      title: "Newsletter archive",
      path: "/newsletter",
      tags: ["newsletter"],
      perDay: 22,
      age: 360,
    },
    ...{ isCustom: true, bursts: [7, 37, 67, 97, 127, 157, 187, 217, 247, 277, 307, 337], referrer: "mail.example" },
  },
  {
    ...{
      code: "get-app",
      title: "Get the app",
      path: "/app",
      tags: ["product"],
      perDay: 26,
      age: 340,
      isPrinted: true,
    },
    more: {
      rules: [
        { when: { os: ["ios"] }, url: "https://apps.example.com/ios/alder" },
        { when: { os: ["android"] }, url: "https://apps.example.com/android/alder" },
      ],
    },
  },
  {
    ...{ code: "catalogue", title: "Catalogue 2026", path: "/catalogue.pdf", tags: ["print"], perDay: 18, age: 300 },
    ...{ isPrinted: true, usedShare: 0.97, peakDay: 120 },
  },
  {
    ...{ code: "black-friday", title: "Black Friday", path: "/black-friday", tags: ["campaign", "sale"], perDay: 3 },
    ...{ age: 355, isCustom: true, peakDay: 331, bursts: [350, 352, 353] },
  },
  {
    ...{ code: "trail-race", title: "Trail race sign-up", path: "/events/trail-race", tags: ["event"], perDay: 12 },
    ...{ age: 140, bursts: [5, 20, 60], usedShare: 1 },
  },
];

const things: readonly (readonly [code: string, title: string, tag: string, perDay: number])[] = [
  ["boots", "Hiking boots", "product", 14],
  ["jackets", "Rain jackets", "product", 11],
  ["tents", "Tents for two", "product", 9],
  ["stoves", "Gas stoves", "product", 6],
  ["maps", "Trail maps", "guide", 7],
  ["sizes", "Size guide", "help", 8],
  ["returns", "Returns and refunds", "help", 6],
  ["warranty", "Warranty", "help", 3],
  ["stores", "Our stores", "help", 5],
  ["jobs", "Jobs at Alder", "company", 4],
  ["press", "Press kit", "company", 2],
  ["podcast", "Alder podcast", "social", 9],
  ["insta", "Instagram", "social", 12],
  ["video", "Video channel", "social", 8],
  ["forum", "Forum", "social", 3],
  ["care", "How to care for leather", "guide", 5],
  ["packing", "Packing list", "guide", 6],
  ["weather", "Weather for hikers", "guide", 4],
  ["huts", "Huts in the Alps", "guide", 7],
  ["avalanche", "Avalanche course", "event", 3],
  ["climb", "Climbing course", "event", 3],
  ["repair-cafe", "Repair café", "event", 2],
  ["gift", "Gift cards", "product", 5],
  ["kids", "For children", "product", 4],
  ["dogs", "Gear for dogs", "product", 3],
  ["second-hand", "Second hand", "product", 4],
  ["rent", "Rent a tent", "product", 3],
  ["b2b", "For companies", "company", 2],
  ["partner", "Partner programme", "company", 2],
  ["survey", "Customer survey", "company", 3],
  ["privacy-policy", "Privacy policy", "help", 1],
  ["contact", "Contact", "help", 3],
  ["poster-berlin", "Poster Berlin", "print", 4],
  ["poster-wien", "Poster Wien", "print", 3],
  ["poster-zurich", "Poster Zürich", "print", 2],
  ["flyer-spring", "Flyer, spring fair", "print", 3],
  ["box", "Inside the box", "print", 5],
  ["label-boots", "Care label, boots", "print", 2],
  ["reel-camp", "Reel: first camp", "social", 6],
  ["blog-ultralight", "Ultralight in ten steps", "blog", 5],
  ["blog-merino", "Merino or synthetic", "blog", 4],
  ["blog-knots", "Six knots", "blog", 4],
  ["blog-night", "A night outside", "blog", 3],
];

const others: readonly DemoLink[] = [
  {
    ...{ code: "old-shop", title: "Old shop", path: "/shop-2019", tags: ["old"], perDay: 2, age: 364 },
    more: { status: "disabled" },
  },
  {
    ...{
      code: "lookbook",
      title: "Lookbook",
      path: "/gone",
      tags: ["print", "old"],
      perDay: 4,
      age: 280,
      isDead: true,
    },
  },
  {
    ...{ code: "summer-raffle", title: "Summer raffle", path: "/raffle", tags: ["campaign", "summer"], perDay: 6 },
    ...{ age: 150, more: { fallbackUrl: `${site}/campaigns` } },
  },
  { code: "beta", title: "Beta of the new shop", path: "/beta", tags: ["product"], perDay: 1, age: 20 },
  {
    code: "press-event",
    title: "Press event",
    path: "/press/event",
    tags: ["event"],
    perDay: 1,
    age: 90,
    isDeleted: true,
  },
  { code: "typo-link", title: "Wrong link", path: "/typo", tags: [], perDay: 0.1, age: 60, isDeleted: true },
];

/** Old and new, in a row that is the same every time. */
export const demoLinks: readonly DemoLink[] = [
  ...campaigns,
  ...things.map(
    ([code, title, tag, perDay], place): DemoLink => ({
      ...{ code, title, path: `/${code}`, tags: place % 7 === 0 ? [tag, "evergreen"] : [tag], perDay },
      ...{ age: 30 + ((place * 53) % 330), isPrinted: tag === "print", isCustom: place % 3 === 0 },
      ...(tag === "social" && { referrer: "www.instagram.com" }),
    }),
  ),
  ...others,
];

/** As the API takes it. `expired`: the raffle is over. */
export function inputOf(link: DemoLink, now: number): LinkInput {
  const isOver = link.code === "summer-raffle";
  const custom = `https://${hosts[link.tags[0] ?? ""] ?? "www"}.alder.example`;
  return {
    ...{
      url: `${link.isCustom ? custom : site}${link.path}`,
      title: link.title,
      tags: link.tags,
      domain: link.isCustom ? demoDomain : null,
    },
    ...{ code: link.code, expiresAt: link.code === "trail-race" ? now + 9 * dayMs : isOver ? now + dayMs : null },
    ...link.more,
  };
}
