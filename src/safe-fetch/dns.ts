import type { Resolver } from "node:dns/promises";

/** DNS lookups, through the given name servers or the resolver of this machine. */
export interface Dns {
  /** All addresses of a name. Throws if there are none. */
  addresses(name: string): Promise<readonly string[]>;
  /** The current values of a TXT record. Empty if there is no such record or no name server answers. */
  texts(name: string): Promise<readonly string[]>;
}

const timeoutMs = 3_000;
const tries = 2;

/** When it is first used: loading it takes some milliseconds of every start. */
const loadDns = () => import("node:dns/promises");

export function createDns(servers: readonly string[]): Dns {
  async function resolver(): Promise<Resolver> {
    const { Resolver } = await loadDns();
    const made = new Resolver({ timeout: timeoutMs, tries });
    if (servers.length > 0) made.setServers([...servers]);
    return made;
  }

  return {
    async addresses(name) {
      // The resolver of this machine also reads its hosts file.
      if (servers.length === 0) {
        const { lookup } = await loadDns();
        return (await lookup(name, { all: true })).map(({ address }) => address);
      }
      const [ofIpv4, ofIpv6] = [await resolver(), await resolver()];
      const asked = await Promise.allSettled([ofIpv4.resolve4(name), ofIpv6.resolve6(name)]);
      const found = asked.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      if (found.length === 0) throw new Error(`${name} has no address`);
      return found;
    },

    async texts(name) {
      try {
        return (await (await resolver()).resolveTxt(name)).map((parts) => parts.join(""));
      } catch {
        return [];
      }
    },
  };
}
