import { formatCount, formatCounted } from "./format.ts";
import type { Letter, LetterPart } from "./letter.ts";

/** Something about some links of a tenant: a first click, a spike, a drop, or a destination that is gone. */
export interface LinkNoticeFacts {
  readonly tenant: string;
  /** IANA time zone of the times. */
  readonly zone: string;
  readonly links: readonly NoticeLink[];
}

export interface NoticeLink {
  readonly url: string;
  readonly title: string | null;
  /** When it began. */
  readonly at: number;
  /** In the window, or in the last seven days for a dead destination. */
  readonly clicks: number;
  readonly usual: number;
  /** What the destination answers: `404`, or why it does not answer. */
  readonly answer: string | null;
}

const shownMost = 20;

export const firstClickLetter = (facts: LinkNoticeFacts): Letter =>
  letterOf(facts, {
    title: oneOrMany(facts, "A link had its first click", (many) => `${many} links had their first click`),
    text: oneOrMany(
      facts,
      "Someone followed this link for the first time.",
      () => "Someone followed these links for the first time.",
    ),
    value: ({ at }) => timeIn(facts.zone, at),
    about: "first clicks",
  });

export const spikeLetter = (facts: LinkNoticeFacts): Letter =>
  letterOf(facts, {
    title: oneOrMany(
      facts,
      "A link gets many more clicks than usual",
      (many) => `${many} links get many more clicks than usual`,
    ),
    text: "Compared with the same hour of the last four weeks. Bots are not counted.",
    value: ({ clicks }) => formatCounted(clicks, "click"),
    note: ({ at, usual }) => `in the hour to ${timeIn(facts.zone, at)}; usually ${formatCount(Math.round(usual))}`,
    about: "spikes",
  });

export const dropLetter = (facts: LinkNoticeFacts): Letter =>
  letterOf(facts, {
    title: oneOrMany(facts, "A busy link gets hardly any clicks", (many) => `${many} busy links get hardly any clicks`),
    text: `Compared with the same hours of the last four weeks. ${oneOrMany(
      facts,
      "Check that the places that show the link still do, and that the link works.",
      () => "Check that the places that show the links still do, and that the links work.",
    )}`,
    value: ({ clicks }) => formatCounted(clicks, "click"),
    note: ({ at, usual }) => `in the six hours to ${timeIn(facts.zone, at)}; usually ${formatCount(Math.round(usual))}`,
    about: "drops",
  });

export const deadTargetLetter = (facts: LinkNoticeFacts): Letter =>
  letterOf(facts, {
    title: oneOrMany(
      facts,
      "The destination of a link no longer works",
      (many) => `The destinations of ${many} links no longer work`,
    ),
    text: `Every check in the last few days failed. ${oneOrMany(
      facts,
      "Visitors still go there: change the destination, or disable the link.",
      () => "Visitors still go there: change the destinations, or disable the links.",
    )}`,
    value: ({ clicks }) => formatCounted(clicks, "click"),
    note: ({ answer }) => `The destination ${answer ?? "does not answer"}. Clicks are those of the last 7 days.`,
    about: "dead destinations",
  });

interface Words {
  readonly title: string;
  readonly text: string;
  readonly value: (link: NoticeLink) => string;
  readonly note?: (link: NoticeLink) => string;
  readonly about: string;
}

function letterOf({ tenant, links }: LinkNoticeFacts, { title, text, value, note, about }: Words): Letter {
  const more = links.length - shownMost;
  const rest: LetterPart[] = more > 0 ? [{ kind: "text", text: `And ${formatCount(more)} more.` }] : [];
  return {
    subject: `${title}: ${tenant}`,
    title,
    parts: [
      { kind: "text", text },
      {
        kind: "list",
        rows: links.slice(0, shownMost).map((link) => {
          const notes = [link.title, note?.(link)].filter((one) => one !== null && one !== undefined);
          return {
            ...{ label: withoutScheme(link.url), url: link.url, value: value(link) },
            ...(notes.length === 0 ? {} : { note: notes.join(" · ") }),
          };
        }),
      },
      ...rest,
    ],
    why: `You get this email because your address is the contact address of ${tenant}.`,
    stop: `Switch off emails about ${about}`,
  };
}

const oneOrMany = ({ links }: LinkNoticeFacts, one: string, many: (count: string) => string): string =>
  links.length === 1 ? one : many(formatCount(links.length));

/** `go.example.com/winter`, as people say it. */
export const withoutScheme = (url: string): string => url.replace(/^https?:\/\//, "");

/** `16 November, 14:05 (CET)` */
const timeIn = (timeZone: string, at: number): string => {
  const time = new Date(at);
  const day = time.toLocaleDateString("en-GB", { day: "numeric", month: "long", timeZone });
  const clock = time.toLocaleTimeString("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
    timeZone,
  });
  return `${day}, ${clock}`;
};
