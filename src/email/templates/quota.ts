import type { Letter, Part } from "./letter.ts";
import { bytes, day, grouped } from "./words.ts";

export interface QuotaFacts {
  readonly tenant: string;
  readonly percent: 80 | 100;
  readonly used: number;
  readonly max: number;
  readonly of:
    | { readonly kind: "hits"; readonly shortUrl: string; readonly fallback: boolean; readonly resetsAt: number }
    | { readonly kind: "links"; readonly resetsAt: number }
    | { readonly kind: "storage" };
}

/** Nearly all, or all, of one of a tenant's limits is used: what that means for it, and what it can do. */
export function quota(facts: QuotaFacts): Letter {
  const { title, label, texts } = words(facts);
  return {
    subject: `${title}: ${facts.tenant}`,
    title,
    parts: [
      { kind: "meter", label, used: facts.used, max: facts.max },
      ...texts.map((text): Part => ({ kind: "text", text })),
    ],
    why: `You get this because yours is the contact address of ${facts.tenant}.`,
  };
}

interface Words {
  readonly title: string;
  readonly label: string;
  readonly texts: readonly string[];
}

const raise = "Whoever runs this server can raise the limit.";

function words({ percent, used, max, of }: QuotaFacts): Words {
  const spent = percent === 100;
  switch (of.kind) {
    case "hits": {
      const visitors = of.fallback ? "go to its fallback address" : "see a page that says so";
      return {
        title: spent ? "A link has used all its visits of this month" : "A link has used 80 % of its visits",
        label: `${grouped(used)} of ${grouped(max)} visits this month`,
        texts: [
          of.shortUrl,
          spent
            ? `Its visitors now ${visitors}. It works again on ${day(of.resetsAt)}.`
            : `When all are used, its visitors ${visitors} until ${day(of.resetsAt)}.`,
          of.fallback ? raise : `You can give it a fallback address to send them to. ${raise}`,
        ],
      };
    }
    case "links":
      return {
        title: spent ? "No more links can be made this month" : "80 % of this month's links are made",
        label: `${grouped(used)} of ${grouped(max)} new links this month`,
        texts: [
          spent
            ? `All links that there are go on working. New ones can be made again on ${day(of.resetsAt)}.`
            : `When all are made, no new ones can be made until ${day(of.resetsAt)}. Links that there are go on working.`,
          raise,
        ],
      };
    case "storage":
      return {
        title: spent ? "The storage is full" : "80 % of the storage is used",
        label: `${bytes(used)} of ${bytes(max)}`,
        texts: [
          spent
            ? "No more files can be uploaded. Those that there are stay, and can be downloaded."
            : "When it is full no more files can be uploaded.",
          `Delete files that you no longer need, and their room is free at once. ${raise}`,
        ],
      };
  }
}
