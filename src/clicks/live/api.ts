import type { TenantId } from "../../base/ids.ts";
import { type Api, route, z } from "../../http/route.ts";
import type { TenantNumber } from "../../sql/schema.ts";
import { type Live, streamSecondsMost } from "./live.ts";
import type { LiveCaller } from "./room.ts";

const seconds = z.coerce
  .number()
  .int()
  .min(1)
  .max(streamSecondsMost)
  .default(streamSecondsMost)
  .openapi({ description: "When the stream ends.", example: 2 });

/** The route of live clicks. */
const routes = {
  live: route(
    "stats:read",
    {
      method: "get",
      path: "/api/live",
      tags: ["Clicks"],
      operationId: "watchClicks",
      summary: "Watch clicks as they happen",
      description:
        "A stream of server-sent events. `click`: a click, with its link, place, source and verdict. `quota`: the hits of a link that were counted this month. `more`: how many events of the last second were not shown, because at most 50 clicks and 20 limits are shown each second. `notice`: other servers' clicks are missing, or are back. A comment is sent every 15 s. The stream ends after an hour, or after `seconds`, and when the API key is revoked; a client that reads too slowly is cut. Events are not repeated: `Last-Event-ID` is ignored.",
      request: { query: z.strictObject({ seconds }) },
    },
    {
      200: {
        description: "Events, until the client or the server ends the stream",
        content: { "text/event-stream": { schema: z.string() } },
      },
    },
    "invalid_input",
    "too_many_streams",
    "busy",
  ),
};

export function liveRoutes(
  api: Api,
  live: Pick<Live, "open">,
  numberOf: (tenant: TenantId) => Promise<TenantNumber>,
): void {
  api.openapi(routes.live, async (c) => {
    const { tenant, by } = c.get("caller");
    const { method, signal } = c.req.raw;
    // A HEAD request would hold a stream that is never read.
    if (method === "HEAD") return new Response(null, { headers: streamHeaders });
    const { allowSilence } = c.env;
    const number = await numberOf(tenant.id);
    const lastsMs = c.req.valid("query").seconds * 1_000;
    const caller: LiveCaller =
      by.kind === "key" ? { kind: "key", id: by.key.id } : { kind: "person", id: by.session.id, person: by.person.id };
    const body = await live.open({ number, tenant: tenant.id, caller, lastsMs, allowSilence, signal });
    return new Response(body, { headers: streamHeaders });
  });
}

const streamHeaders = {
  "content-type": "text/event-stream;charset=utf-8",
  // For nginx, which otherwise waits until a buffer is full.
  "x-accel-buffering": "no",
};
