/** Something of a workspace for every parameter of a path, and a body with which its route would do something. */
import { query, type Site, type UploadBody } from "../../test/e2e/servers.ts";
import { makePerson } from "../../test/ground/people.ts";

/** By the beginning of the path, the longest first. A new kind of thing needs a line here. */
type Make = (site: Site, key: string, slug: string) => Promise<string>;

let made = 0;
const idOf = async (site: Site, key: string, path: string, body: unknown): Promise<string> => {
  const reply = await site.call("POST", path, { key, body });
  if (reply.status !== 201) throw new Error(`nothing was made at ${path}: ${reply.text}`);
  return reply.json<{ id: string }>().id;
};
const link: Make = (site, key) => idOf(site, key, "/api/links", { url: "https://example.com/thing" });

const things: Readonly<Record<string, Make>> = {
  "/api/links/{id}": link,
  "/api/trash/{id}": async (site, key, slug) => {
    const id = await link(site, key, slug);
    await site.call("DELETE", `/api/links/${id}`, { key });
    return id;
  },
  "/api/annotations/{id}": (site, key) => idOf(site, key, "/api/annotations", { text: "thing" }),
  "/api/utm-templates/{id}": (site, key) =>
    idOf(site, key, "/api/utm-templates", { name: `thing ${++made}`, utm: { source: "thing" } }),
  "/api/stats/shares/{id}": (site, key) => idOf(site, key, "/api/stats/shares", { tag: "thing" }),
  "/api/imports/{id}": async (site, key) => {
    const body = { name: "links.csv", size: 5, type: "text/csv" };
    const { id: file, upload } = (await site.call("POST", "/api/files", { key, body })).json<UploadBody>();
    await site.send(upload, "url\nx");
    await site.call("POST", `/api/files/${file}/complete`, { key });
    return idOf(site, key, "/api/imports", { file });
  },
  "/api/keys/{id}": (site, key) => idOf(site, key, "/api/keys", { name: "thing", scopes: ["links:read"] }),
  "/api/files/{id}": async (site, key) => {
    const body = { name: "a.txt", size: 5, type: "text/plain" };
    const { id, upload } = (await site.call("POST", "/api/files", { key, body })).json<UploadBody>();
    await site.send(upload, "hello");
    await site.call("POST", `/api/files/${id}/complete`, { key });
    return id;
  },
  "/api/invitations/{id}": (site, key) => idOf(site, key, "/api/invitations", { role: "viewer" }),
  "/api/domains/{host}": async (site, key) => {
    const host = `thing-${++made}.example.com`;
    await site.call("POST", "/api/domains", { key, body: { host } });
    return host;
  },
  "/api/members/{person}": async (site, _, slug) => (await makePerson(site, { roles: { [slug]: "viewer" } })).id,
  "/api/email/suppressions/{address}": async (site, _, slug) => {
    const address = `thing-${++made}@example.com`;
    const row = `select id, '${address}', 'manual', 0 from tenants where slug = '${slug}'`;
    await query(site.env, `insert into suppressions (tenant_id, address, reason, created_at) ${row}`);
    return address;
  },
  // What belongs to another person.
  "/api/account/sessions/{id}": async (site) => (await makePerson(site)).session,
  "/api/account/workspaces/{workspace}": async (_, __, slug) => slug,
  "/api/account/devices/{id}": async () => `dev_${"0".repeat(26)}`,
  "/api/account/passkeys/{id}": async () => "thing",
};

export const hasThing = (path: string): boolean => kindOf(path) !== undefined;
const kindOf = (path: string): string | undefined => Object.keys(things).find((known) => path.startsWith(known));

/** The path with the name of something of the workspace in it; `undefined` if it has no parameter. */
export async function pathOfThing(site: Site, path: string, key: string, slug: string): Promise<string | undefined> {
  const make = things[kindOf(path) ?? ""];
  return make && path.replace(/\{\w+\}/, await make(site, key, slug));
}

/** With which the route reaches the thing. Others need none. */
export const bodies: Readonly<Record<string, unknown>> = {
  "PATCH /api/links/{id}": { title: "changed" },
  "PUT /api/links/{id}": { url: "https://example.com/replaced" },
  "POST /api/links/{id}/undo": { version: 1 },
  "POST /api/links/{id}/share": { to: "ann@example.com" },
  "PATCH /api/annotations/{id}": { text: "changed" },
  "PATCH /api/utm-templates/{id}": { name: "changed" },
  "PATCH /api/imports/{id}": { state: "cancelled" },
  "PATCH /api/domains/{host}": { rootUrl: "https://example.com/changed" },
  "PATCH /api/members/{person}": { role: "member" },
  "PATCH /api/account/passkeys/{id}": { name: "changed" },
};
