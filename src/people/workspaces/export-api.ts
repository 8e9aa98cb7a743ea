import type { Clock } from "../../base/clock.ts";
import { streamPages } from "../../clicks/reports/export.ts";
import { type Api, route, z } from "../../http/route.ts";
import type { Tenant } from "../../tenants/tenants.ts";

/** Hono would take the media type for JSON itself. */
const lines: Readonly<Record<string, { schema: z.ZodType }>> = { "application/jsonl": { schema: z.string() } };

/** Everything of a workspace in one download, before it is deleted for example. */
const exportRoute = route(
  "admin",
  {
    method: "get",
    path: "/api/workspace/export",
    tags: ["Workspace"],
    operationId: "exportWorkspace",
    summary: "Export the whole workspace",
    description:
      "JSON lines; `record` says what each is: `workspace` with its settings, `member`, `domain`, `file` (its name, not its bytes), `link` with all fields, `trashed_link`, `clicks` of a day, and `end` as the last line of a complete export. `quicklink import` reads the links again. Secrets are not in it.",
  },
  {
    200: {
      description: "The export, as it is read. Without a last line `end` it was cut off: repeat it.",
      content: lines,
    },
  },
  "busy",
);

export interface WorkspaceExportApi {
  readonly clock: Clock;
  /** Some lines, and where the next ones begin. */
  readonly part: (
    tenant: Tenant,
    place: string | null,
  ) => Promise<{ readonly lines: readonly string[]; readonly next: string | null }>;
}

export function workspaceExportRoutes(api: Api, { clock, part }: WorkspaceExportApi): void {
  api.openapi(exportRoute, async (c) => {
    const { tenant } = c.get("caller");
    // Before the answer begins, so that a server that is busy says so.
    let first: Awaited<ReturnType<typeof part>> | undefined = await part(tenant, null);
    const read = async (after: string | undefined) => {
      const { lines, next } = first ?? (await part(tenant, after ?? null));
      first = undefined;
      return { items: lines, next };
    };
    return new Response(
      streamPages(read, ({ items }) => items.join(""), "", { clock, still: c.get("still") }),
      {
        headers: {
          "content-type": "application/jsonl",
          "content-disposition": `attachment; filename="${tenant.slug}.jsonl"`,
        },
      },
    );
  });
}
