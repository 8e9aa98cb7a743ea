import { createHmac } from "node:crypto";
import { createMemo, type Memo } from "../base/memo.ts";
import { networkOf } from "../limits/network.ts";
import type { Countries } from "./countries.ts";
import { visitQuery } from "./forward-query.ts";
import { bestLanguage } from "./language.ts";
import type { Visitor } from "./match-rules.ts";
import type { Agent, AgentOf } from "./user-agents.ts";
import type { VisitRequest } from "./visit-request.ts";

/** What a request tells about its visitor, computed on demand and forgotten with the request. */
export interface Visitors {
  of(request: VisitRequest): Visitor;
  /**
   * From 0 to below 1, always the same for a visitor and a link, and different for other links. Derived from network
   * and User-Agent, so that nothing is stored on the visitor; keyed, so that visitors cannot choose theirs.
   */
  pointOf(request: VisitRequest, key: string): number;
}

export interface VisitorSettings {
  readonly countries: Pick<Countries, "of">;
  readonly agentOf: AgentOf;
  readonly addressOf: (request: VisitRequest) => string | undefined;
  readonly secret: Uint8Array;
}

/** As many as user agents, and few headers are longer. */
const languagesMost = 2_000;
const headerMost = 300;

type LanguageMemo = Memo<{ readonly best: string | undefined }>;

export function createVisitors(settings: VisitorSettings): Visitors {
  const { addressOf, secret } = settings;
  const languages: LanguageMemo = createMemo({
    most: languagesMost,
    find: (header) => ({ best: bestLanguage(header) }),
    keeps: (header) => header.length <= headerMost,
  });

  return {
    of: (request) => new RequestVisitor(request, settings, languages),

    pointOf(request, key) {
      const network = networkOf(addressOf(request) ?? "") ?? "";
      const hash = createHmac("sha256", secret)
        .update(`${key}\n${network}\n${request.headers.get("user-agent") ?? ""}`)
        .digest();
      return hash.readUIntBE(0, 6) / 2 ** 48;
    },
  };
}

/** Each fact is read once, however many rules ask for it. A class, because an object of closures takes longer to create. */
class RequestVisitor implements Visitor {
  readonly #request: VisitRequest;
  readonly #settings: VisitorSettings;
  readonly #languages: LanguageMemo;
  #agent: Agent | undefined;
  /** Null: unknown. */
  #country: string | null | undefined;
  #language: string | null | undefined;
  #query: URLSearchParams | undefined;

  constructor(request: VisitRequest, settings: VisitorSettings, languages: LanguageMemo) {
    this.#request = request;
    this.#settings = settings;
    this.#languages = languages;
  }

  get country(): string | undefined {
    if (this.#country === undefined) this.#country = this.#settings.countries.of(this.#request) ?? null;
    return this.#country ?? undefined;
  }

  get device(): Agent["device"] {
    return this.#agentHere().device;
  }

  get os(): Agent["os"] {
    return this.#agentHere().os;
  }

  get language(): string | undefined {
    if (this.#language === undefined) this.#language = this.#readLanguage() ?? null;
    return this.#language ?? undefined;
  }

  asked(name: string): readonly string[] {
    this.#query ??= new URLSearchParams(visitQuery(this.#request));
    return this.#query.getAll(name);
  }

  #agentHere(): Agent {
    this.#agent ??= this.#settings.agentOf(this.#request.headers.get("user-agent"));
    return this.#agent;
  }

  #readLanguage(): string | undefined {
    const header = this.#request.headers.get("accept-language");
    return header === null ? undefined : this.#languages.get(header).best;
  }
}
