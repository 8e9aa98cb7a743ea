import type { Clock } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import { type Api, json, route, z } from "../../http/route.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import { inTheme } from "./letter.ts";
import { type SampleSetting, sampleNames, samples } from "./samples.ts";

/** What emails look like: all of them with sample values, as text and as a page. */
const nameSchema = z.enum(sampleNames);

const sampleSchema = z
  .object({
    name: nameSchema,
    to: z.enum(["contact", "recipient", "person"]).openapi({
      description:
        "Who gets it. `contact`: the contact address of the workspace. `recipient`: somebody a link is shared with. `person`: the owner of an account.",
    }),
    subject: z.string(),
    text: z.string(),
  })
  .openapi("EmailSample");

const routes = {
  list: route(
    "email:read",
    {
      method: "get",
      path: "/api/email/templates",
      tags: ["Email"],
      operationId: "listEmailTemplates",
      summary: "List all emails with sample values",
      description: "The workspace, its time zone and the server are real. Links, people and numbers are samples.",
    },
    { 200: json(z.object({ items: z.array(sampleSchema) }).openapi("EmailSampleList"), "Every email, as text") },
  ),
  preview: route(
    "email:read",
    {
      method: "get",
      path: "/api/email/templates/preview",
      tags: ["Email"],
      operationId: "previewEmailTemplate",
      summary: "Show an email with sample values",
      description: "The HTML of the email, for a frame of a page of this server. Its links do nothing.",
      request: {
        query: z.strictObject({
          name: nameSchema.openapi({ example: "digest" }),
          theme: z
            .enum(["light", "dark"])
            .optional()
            .openapi({ description: "Omitted: as the reader's system says, as in a mail program." }),
          workspace: z.string().max(100).optional().openapi({
            description: "For people: the workspace, by slug or ID, because a frame sends no headers.",
          }),
        }),
      },
    },
    { 200: { description: "The email", content: { "text/html": { schema: z.string() } } } },
    "invalid_input",
  ),
};

/** The styles of an email are inline. Nothing in it runs, nothing is loaded, and only our own pages may show it. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'";

export interface EmailTemplatesApi {
  readonly zoneOf: (tenant: TenantId) => Promise<string>;
  readonly baseUrl: string;
  readonly clock: Clock;
}

export function emailTemplateRoutes(api: Api, { zoneOf, baseUrl, clock }: EmailTemplatesApi): void {
  const settingOf = async ({ id, name }: Tenant): Promise<SampleSetting> => ({
    ...{ tenant: name, zone: await zoneOf(id), baseUrl, now: clock.now() },
  });

  api.openapi(routes.list, async (c) => {
    const setting = await settingOf(c.get("caller").tenant);
    const items = sampleNames.map((name) => {
      const { subject, text } = samples[name].write(setting);
      return { name, to: samples[name].to, subject, text };
    });
    return c.json({ items }, 200);
  });

  api.openapi(routes.preview, async (c) => {
    const { name, theme } = c.req.valid("query");
    const { html } = samples[name].write(await settingOf(c.get("caller").tenant));
    c.env.headers.set("content-security-policy", policy);
    return c.html(withoutLinks(theme === undefined ? html : inTheme(html, theme)));
  });
}

/** A press would open a new window, which a sandbox does not allow. */
const withoutLinks = (html: string): string => html.replace("<head>", '<head><base target="_blank">');
