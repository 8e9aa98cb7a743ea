import { tokenName, tokenPath } from "./domain.ts";

/** Looks for what only the owner of a domain can publish there. */
export interface Evidence {
  shows(host: string, text: string): Promise<boolean>;
}

export interface EvidenceSettings {
  /** The texts of a TXT record; empty if there is no such record, or no answer. */
  readonly texts: (name: string) => Promise<readonly string[]>;
  /** The beginning of a page that answers with 200; `undefined` if it does not. */
  readonly page: (url: string) => Promise<string | undefined>;
}

export const createEvidence = ({ texts, page }: EvidenceSettings): Evidence => ({
  async shows(host, text) {
    if ((await texts(tokenName(host))).some((found) => found.trim() === text)) return true;
    return (await page(`http://${host}${tokenPath}`))?.trim() === text;
  },
});
