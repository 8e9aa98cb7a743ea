import { type Clock, systemClock } from "../../base/clock.ts";
import { createMemo } from "../../base/memo.ts";
import { networkOf } from "../../limits/network.ts";
import { type LinkKey, splitKey } from "../../links/link.ts";
import { queryOf } from "../../redirect/forward-query.ts";
import type { AgentOf } from "../../redirect/user-agents.ts";
import type { VisitRequest } from "../../redirect/visit-request.ts";
import { dimensions, other } from "../click.ts";
import type { BotKindOf } from "./bot-kinds.ts";
import { campaignOf } from "./campaign.ts";
import { type CampaignTexts, type FactText, factText, noText, type RecordedLink } from "./columns.ts";
import { isExcluded } from "./exclude.ts";
import { factValue } from "./fact-value.ts";
import { createLanguages } from "./languages.ts";
import type { Places } from "./places.ts";
import { referrerHost } from "./referrer.ts";
import { type HashPart, joinParts } from "./visitor-hash.ts";

/**
 * From a request to the facts of a click. A few agents, languages, referrers and campaigns make most clicks, so each is
 * read once and remembered as a text that knows its place in the current batch: most clicks are a few lookups. Strangers
 * choose these headers, so every memo is bounded, in number and in the length of its keys.
 */
export type ReadFacts = (
  visit: SeenVisit,
  key: LinkKey,
  link: RecordedLink,
  /** The rule or part of the split that the visitor got. */
  variant: string,
  destination: string,
) => VisitFactTexts | "excluded";

/** What a request tells only while it is answered; headers can be read later. One object, because there is one a click. */
export interface SeenVisit extends SeenFacts {
  readonly headers: VisitRequest["headers"];
}

export interface SeenFacts {
  /** Of the request, without its question mark. `undefined`: facts are off. */
  readonly query: string | undefined;
  readonly address: string | undefined;
  /** According to a proxy of ours. */
  readonly country: string | undefined;
}

export interface VisitFactTexts {
  /** In the order of `dimensions`. The next call reuses the list. */
  readonly facts: readonly FactText[];
  /** 0: may not be recognised. */
  readonly visitor: number;
}

export interface FactSettings {
  readonly agentOf: AgentOf;
  readonly botKindOf: BotKindOf;
  readonly places: Places;
  readonly hash: HashPart;
  /** Hosts of the server itself, which are no referrers. */
  readonly ownHosts: ReadonlySet<string>;
  readonly clock?: Pick<Clock, "elapsed">;
}

/** Everything longer is cut first. */
const headerMost = 1_024;
/** Worth remembering: nearly all agents, referrers and queries of people are shorter. */
const keyMost = 300;
/** Entries of each memo, which take up to about 1 KB: 2 MB each. */
const memoMost = 2_000;
/** Visitors come again within minutes; an entry takes about 300 bytes. */
const addressMost = 10_000;

/**
 * New agents in a second. Parsing one takes 55 µs, more than a whole redirect, so it would double the cost of an attack that
 * never sends the same one twice. Beyond, device, system and browser are "other"; visitors are still told apart.
 */
const parsedMost = 500;
const unparsed = { device: other, os: other, browser: other };

const reasonOnly: VisitFactTexts = { facts: dimensions.map(() => noText), visitor: 0 };

export function createFacts(settings: FactSettings): ReadFacts {
  const { agentOf, botKindOf, places, hash, ownHosts, clock = systemClock } = settings;
  const keeps = (key: string) => key.length <= keyMost;
  const remember = <Value extends NonNullable<unknown>>(find: (key: string) => Value) =>
    createMemo({ most: memoMost, find, keeps });

  const mayParse = perSecond(parsedMost, clock);
  const agents = createMemo({
    most: memoMost,
    find(userAgent) {
      const isParsed = mayParse();
      const { device = "", os = "", browser = "" } = isParsed ? agentOf(userAgent) : unparsed;
      return {
        device: factText(device),
        os: factText(os),
        browser: factText(isParsed ? factValue(browser) : browser),
        bot: factText(botKindOf(userAgent)),
        part: hash("agent", userAgent),
        isParsed,
      };
    },
    keeps: (userAgent, { isParsed }) => isParsed && keeps(userAgent),
  });
  const referrers = remember((header) => {
    const host = referrerHost(header);
    return ownHosts.has(host) ? noText : factText(host);
  });
  const languageOf = createLanguages();
  const languages = remember((header) => factText(languageOf(header)));
  const marks = remember(factText);
  const readCampaign = (query: string): CampaignTexts => {
    if (query === "") return noCampaign;
    const { source, medium, campaign, scanned } = campaignOf(query);
    return { source: marks.get(source), medium: marks.get(medium), campaign: marks.get(campaign), scanned };
  };
  const campaigns = remember(readCampaign);
  const variants = remember(factText);
  const countries = remember(factText);
  const addresses = createMemo({
    most: addressMost,
    find(address) {
      const { country, region, city } = places.of(address);
      const network = networkOf(address);
      return {
        ...{ country: factText(country), region: factText(region), city: factText(city) },
        part: network === undefined ? undefined : hash("network", network),
      };
    },
    keeps: () => places.isReady,
  });
  const [qr, link] = [factText("qr"), factText("link")];
  const ofQuery = (query: string) => (query === "" ? noCampaign : campaigns.get(query));
  const destinations = remember((destination) => readCampaign(cutQuery(queryOf(destination))));
  const facts = dimensions.map(() => noText);

  // The first destination of a link stays with it: a server has more links than a memo has entries. Links with rules or a fallback
  // have others. Those that are too long for the memo take its place: a link that was over its quota soon has its own again.
  function ofDestination(target: RecordedLink, destination: string): CampaignTexts {
    const own = target.campaign;
    if (own?.destination === destination) return own;
    const campaign = destinations.get(destination);
    if (own === undefined || !keeps(destination)) target.campaign = { ...campaign, destination };
    return campaign;
  }

  return ({ headers, query, address, country }, key, target, variant, destination) => {
    if (isExcluded(headers.get("cookie"))) return "excluded";
    if (query === undefined || !target.facts || isOne(headers.get("dnt")) || isOne(headers.get("sec-gpc"))) {
      return reasonOnly;
    }
    const agent = agents.get(cut(headers.get("user-agent") ?? ""));
    const place = address === undefined ? undefined : addresses.get(address);
    const own = ofQuery(cutQuery(query));
    const marked = ofDestination(target, destination);
    const referrer = headers.get("referer");
    const language = headers.get("accept-language");
    const isTold = country !== undefined && country !== place?.country.text;

    facts[at.country] = isTold ? countries.get(country) : (place?.country ?? noText);
    facts[at.region] = isTold ? noText : (place?.region ?? noText);
    facts[at.city] = isTold ? noText : (place?.city ?? noText);
    facts[at.device] = agent.device;
    facts[at.browser] = agent.browser;
    facts[at.os] = agent.os;
    facts[at.referrer] = referrer === null ? noText : notDomainOf(key, referrers.get(cut(referrer)));
    facts[at.language] = language === null ? noText : languages.get(cut(language));
    facts[at.utm_source] = own.source.text === "" ? marked.source : own.source;
    facts[at.utm_medium] = own.medium.text === "" ? marked.medium : own.medium;
    facts[at.utm_campaign] = own.campaign.text === "" ? marked.campaign : own.campaign;
    facts[at.source] = own.scanned ? qr : link;
    facts[at.variant] = variant === "" ? noText : variants.get(variant);
    facts[at.bot] = agent.bot;
    return { facts, visitor: place?.part === undefined ? 0 : joinParts(place.part, agent.part) };
  };
}

const noCampaign: CampaignTexts = { source: noText, medium: noText, campaign: noText, scanned: false };

/** Where each fact is in the list. */
const at = Object.fromEntries(dimensions.map((name, place) => [name, place])) as Readonly<
  Record<(typeof dimensions)[number], number>
>;

const cut = (text: string): string => (text.length > headerMost ? text.slice(0, headerMost) : text);

/** Also if it was sent twice, by the browser and by a proxy, or with an extension, as DNT may have. */
const isOne = (header: string | null): boolean => header !== null && (header === "1" || /(?:^|,)\s*1/.test(header));

/** Without a parameter that is cut off: half of an email address looks like none. */
function cutQuery(query: string): string {
  const text = cut(query);
  return text.length === query.length ? text : text.slice(0, Math.max(0, text.lastIndexOf("&")));
}

/** A link that was opened from a page of its own domain has no referrer. */
function notDomainOf(key: LinkKey, referrer: FactText): FactText {
  return key.includes("/") && splitKey(key).domain.replace(/^www\./, "") === referrer.text ? noText : referrer;
}

/** True at most so often in a second. */
function perSecond(most: number, clock: Pick<Clock, "elapsed">): () => boolean {
  let [second, count] = [-1, 0];
  return () => {
    const now = Math.floor(clock.elapsed() / 1_000);
    if (now !== second) [second, count] = [now, 0];
    return ++count <= most;
  };
}
