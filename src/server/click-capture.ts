import { withDeadline } from "../base/deadline.ts";
import { createBotKinds } from "../clicks/facts/bot-kinds.ts";
import { type Capture, createCapture } from "../clicks/facts/capture.ts";
import { createFacts, type SeenVisit } from "../clicks/facts/facts.ts";
import { createPlaces, openCityTable } from "../clicks/facts/places.ts";
import { createVisitorHash } from "../clicks/facts/visitor-hash.ts";
import { visitQuery } from "../redirect/forward-query.ts";
import type { VisitRequest } from "../redirect/visit-request.ts";
import type { VisitorSources } from "./redirect.ts";
import type { Wiring } from "./wiring.ts";

/**
 * Takes clicks from the redirect, with facts about their visitors unless the operator switched them off. `answered`: whoever
 * waited for the socket does not wait for the country table too.
 */
export async function openCapture(
  { core, metrics }: Wiring,
  sources: VisitorSources,
  answered: Promise<unknown>,
): Promise<Capture> {
  const { config, clock, secretFor } = core;
  const { addressOf, countries, agentOf, isBot } = sources;
  const withFacts = config.QL_CLICK_FACTS === "on";
  const path = config.QL_CITY_DATABASE;
  const cities = withFacts && path !== undefined ? await openCityTable(path) : undefined;
  const load = () => withDeadline(countries.load(), tableMs, "the country table").catch(() => {});
  const loaded = withFacts ? answered.then(load) : undefined;

  const visitOf = (request: VisitRequest, facts: boolean): SeenVisit =>
    withFacts && facts
      ? {
          headers: request.headers,
          query: visitQuery(request),
          address: addressOf(request),
          country: countries.told(request),
        }
      : { headers: request.headers, query: undefined, address: undefined, country: undefined };
  const readFacts = createFacts({
    agentOf,
    botKindOf: createBotKinds(isBot),
    places: createPlaces(countries, cities),
    hash: createVisitorHash(secretFor("visitors")),
    ownHosts: config.ownNames.names,
  });
  return createCapture({ readFacts, visitOf, clock, metrics, ...(loaded && { ready: loaded }) });
}

/** Loading takes some 50 ms. A process that stops at once waits for it, and has ten seconds in all. */
const tableMs = 3_000;
