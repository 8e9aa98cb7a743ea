import { lookup, Resolver } from "node:dns/promises";

/** What DNS says: by the name servers given, or as this machine knows it. */
export interface Dns {
  /** Every address of a name. Throws when there is none. */
  addresses(name: string): Promise<readonly string[]>;
  /** The texts of a TXT record, as DNS has them now; none if there is no such record, or nobody answers. */
  texts(name: string): Promise<readonly string[]>;
}

const timeoutMs = 3_000;
const tries = 2;

export function createDns(servers: readonly string[]): Dns {
  function resolver(): Resolver {
    const made = new Resolver({ timeout: timeoutMs, tries });
    if (servers.length > 0) made.setServers([...servers]);
    return made;
  }

  return {
    async addresses(name) {
      // The machine's own way knows its hosts file, too.
      if (servers.length === 0) return (await lookup(name, { all: true })).map(({ address }) => address);
      const asked = await Promise.allSettled([resolver().resolve4(name), resolver().resolve6(name)]);
      const found = asked.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      if (found.length === 0) throw new Error(`${name} has no address`);
      return found;
    },

    async texts(name) {
      try {
        return (await resolver().resolveTxt(name)).map((parts) => parts.join(""));
      } catch {
        return [];
      }
    },
  };
}
