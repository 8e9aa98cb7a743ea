import { lookup, Resolver } from "node:dns/promises";

/** DNS lookups, through the given name servers or the resolver of this machine. */
export interface Dns {
  /** All addresses of a name. Throws if there are none. */
  addresses(name: string): Promise<readonly string[]>;
  /** The current values of a TXT record. Empty if there is no such record or no name server answers. */
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
      // The resolver of this machine also reads its hosts file.
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
