import type { Clock } from "../base/clock.ts";
import type { Choice } from "../links/routing/choice.ts";
import { addVisitorQuery, queryOf } from "./forward-query.ts";
import { chooseUrl, pickSplit } from "./match-rules.ts";
import type { Visitors } from "./visitors.ts";

/** The destination for this visitor: the first matching rule, else their part of the split, else the link's URL. */
export type RouteVisitor = (choice: Choice, url: string, request: Request, key: string) => string;

export const createRouting =
  (visitors: Visitors, clock: Clock): RouteVisitor =>
  ({ rules, split, forwardQuery }, url, request, key) => {
    const ruled = rules.length === 0 ? undefined : chooseUrl(rules, visitors.of(request), clock.now());
    const picked = ruled ?? (split.length === 0 ? url : (pickSplit(split, visitors.pointOf(request, key)) ?? url));
    // Empty: the link's file, whose URL is signed as it is.
    return forwardQuery && picked !== "" ? addVisitorQuery(picked, queryOf(request.url)) : picked;
  };
