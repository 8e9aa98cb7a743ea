import { formatBytes, formatCount, formatCounted, formatDay } from "./format.ts";
import type { Letter, LetterPart } from "./letter.ts";

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

/** A limit of a tenant is nearly or fully used: what that means, and what the tenant can do. */
export function quotaLetter(facts: QuotaFacts): Letter {
  const { title, label, texts } = words(facts);
  return {
    subject: `${title}: ${facts.tenant}`,
    title,
    parts: [
      { kind: "meter", label, used: facts.used, max: facts.max },
      ...texts.map((text): LetterPart => ({ kind: "text", text })),
    ],
    why: `You get this email because your address is the contact address of ${facts.tenant}.`,
  };
}

interface Words {
  readonly title: string;
  readonly label: string;
  readonly texts: readonly string[];
}

const raise = "The operator of this server can raise the limit.";

function words({ percent, used, max, of }: QuotaFacts): Words {
  const spent = percent === 100;
  switch (of.kind) {
    case "hits": {
      const visitors = of.fallback ? "go to its fallback address" : "see an error page";
      return {
        title: spent ? "A link has used all its visits this month" : "A link has used 80 % of its visits this month",
        label: `${formatCount(used)} of ${formatCounted(max, "visit")} this month`,
        texts: [
          of.shortUrl,
          spent
            ? `Visitors now ${visitors}. The link works again on ${formatDay(of.resetsAt)}.`
            : `When all visits are used, visitors ${visitors} until ${formatDay(of.resetsAt)}.`,
          of.fallback ? raise : `You can set a fallback address for these visitors. ${raise}`,
        ],
      };
    }
    case "links":
      return {
        title: spent
          ? "You have created all your links for this month"
          : "You have created 80 % of your links for this month",
        label: `${formatCount(used)} of ${formatCounted(max, "new link")} this month`,
        texts: [
          spent
            ? `Existing links keep working. You can create new links again on ${formatDay(of.resetsAt)}.`
            : `When the limit is reached, you cannot create links until ${formatDay(of.resetsAt)}. Existing links keep working.`,
          raise,
        ],
      };
    case "storage":
      return {
        title: spent ? "Your storage is full" : "80 % of your storage is used",
        label: `${formatBytes(used)} of ${formatBytes(max)}`,
        texts: [
          spent
            ? "You cannot upload more files. Existing files stay available for download."
            : "When it is full, you cannot upload more files.",
          `Delete files you no longer need to free space at once. ${raise}`,
        ],
      };
  }
}
