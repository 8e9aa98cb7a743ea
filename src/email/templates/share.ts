import type { Letter } from "./letter.ts";

export interface ShareFacts {
  /** The sender. */
  readonly from: string;
  readonly shortUrl: string;
  readonly title: string | null;
  /** The host of the destination, if meaningful: `example.com`. */
  readonly host: string | null;
  readonly message: string | null;
}

export function shareLetter({ from, shortUrl, title, host, message }: ShareFacts): Letter {
  const name = title === null ? "" : `“${title}”.`;
  const leads = host === null ? "" : `It leads to ${host}.`;
  return {
    subject: title === null ? `${from} shared a link with you` : `${from} shared “${title}” with you`,
    title: `${from} shared a link with you`,
    parts: [
      ...(message === null ? [] : [{ kind: "quote", text: message } as const]),
      { kind: "text", text: [name, leads].filter(Boolean).join(" ") || "Open it here." },
      { kind: "action", label: "Open the link", url: shortUrl },
    ],
    why: `${from} chose your address for this email. If you do not know the sender, do not open the link.`,
  };
}
