import type { Clock } from "../base/clock.ts";
import type { Choice } from "../links/routing/choice.ts";
import { addVisitorQuery, visitQuery } from "./forward-query.ts";
import { matchRule, pickSplit } from "./match-rules.ts";
import type { VisitRequest } from "./visit-request.ts";
import type { Visitors } from "./visitors.ts";

/** The destination for this visitor: the first matching rule, else their part of the split, else the link's URL. */
export type RouteVisitor = (choice: Choice, url: string, request: VisitRequest, key: string) => VisitorRoute;

export interface VisitorRoute {
  /** Empty: the link's file, whose URL is signed as it is. */
  readonly url: string;
  /** The same with the visitor's parameters, if they are forwarded. */
  readonly sent: string;
  /** What was taken: "rule 1", "split 2", or nothing. */
  readonly variant: string;
}

export const createRouting =
  (visitors: Visitors, clock: Clock): RouteVisitor =>
  ({ rules, split, forwardQuery }, own, request, key) => {
    let [url, variant] = [own, ""];
    const place = rules.length === 0 ? -1 : matchRule(rules, visitors.of(request), clock.now());
    if (place !== -1) {
      url = rules[place]?.url ?? own;
      variant = `rule ${place + 1}`;
    } else if (split.length > 0) {
      const picked = pickSplit(split, visitors.pointOf(request, key));
      url = split[picked]?.url ?? own;
      variant = `split ${picked + 1}`;
    }
    const sent = forwardQuery && url !== "" ? addVisitorQuery(url, visitQuery(request)) : url;
    return { url, sent, variant };
  };
