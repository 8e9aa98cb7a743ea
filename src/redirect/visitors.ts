import { createHmac } from "node:crypto";
import { networkOf } from "../limits/network.ts";
import type { Countries } from "./countries.ts";
import { queryOf } from "./forward-query.ts";
import { bestLanguage } from "./language.ts";
import type { Visitor } from "./match-rules.ts";
import type { Agent, AgentOf } from "./user-agents.ts";

/** What a request tells about its visitor, computed on demand and forgotten with the request. */
export interface Visitors {
  of(request: Request): Visitor;
  /**
   * From 0 to below 1, always the same for a visitor and a link, and different for other links. Derived from network
   * and User-Agent, so that nothing is stored on the visitor; keyed, so that visitors cannot choose theirs.
   */
  pointOf(request: Request, key: string): number;
}

export interface VisitorSettings {
  readonly countries: Pick<Countries, "of">;
  readonly agentOf: AgentOf;
  readonly addressOf: (request: Request) => string | undefined;
  readonly secret: Uint8Array;
}

export function createVisitors({ countries, agentOf, addressOf, secret }: VisitorSettings): Visitors {
  const text = (request: Request, name: string) => request.headers.get(name);

  return {
    of(request) {
      let agent: Agent | undefined;
      let query: URLSearchParams | undefined;
      const agentHere = () => {
        agent ??= agentOf(text(request, "user-agent"));
        return agent;
      };
      return {
        get country() {
          return countries.of(request);
        },
        get device() {
          return agentHere().device;
        },
        get os() {
          return agentHere().os;
        },
        get language() {
          return bestLanguage(text(request, "accept-language"));
        },
        asked(name) {
          query ??= new URLSearchParams(queryOf(request.url));
          return query.getAll(name);
        },
      };
    },

    pointOf(request, key) {
      const network = networkOf(addressOf(request) ?? "") ?? "";
      const hash = createHmac("sha256", secret)
        .update(`${key}\n${network}\n${text(request, "user-agent") ?? ""}`)
        .digest();
      return hash.readUIntBE(0, 6) / 2 ** 48;
    },
  };
}
