import { Resolver } from "node:dns/promises";
import { tokenName, tokenPath } from "./domain.ts";

/** Looks for what only the one in charge of a domain can publish there. */
export interface Evidence {
  shows(host: string, text: string): Promise<boolean>;
}

export interface EvidenceSettings {
  /** The texts of a TXT record; none if there is no such record, or nobody answers. */
  readonly txt: (name: string) => Promise<readonly string[]>;
  /** The beginning of a page somebody else serves; nothing if there is none. */
  readonly fetchText: (url: string) => Promise<string | undefined>;
}

export const createEvidence = ({ txt, fetchText }: EvidenceSettings): Evidence => ({
  async shows(host, text) {
    if ((await txt(tokenName(host))).some((found) => found.trim() === text)) return true;
    return (await fetchText(`http://${host}${tokenPath}`))?.trim() === text;
  },
});

const timeoutMs = 3_000;
const tries = 2;

/** DNS as it is now, past every cache of this machine. `servers`: whom to ask, if not those of the machine. */
export function createTxt(servers: readonly string[]): EvidenceSettings["txt"] {
  return async (name) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries });
    if (servers.length > 0) resolver.setServers([...servers]);
    try {
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(""));
    } catch {
      return [];
    }
  };
}
