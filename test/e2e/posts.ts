/** One request of each POST of the API, with all that it needs in place. A new POST needs a line here. */
import type { DnsServer } from "../ground/dns.ts";
import { startDns } from "../ground/dns.ts";
import type { Site, UploadBody } from "./servers.ts";

export type Asked = { readonly path: string; readonly body?: unknown };

/** A DNS server in which domains can be verified; its address goes into `QL_DNS_SERVERS`. */
export type Names = DnsServer & { readonly published: Map<string, string> };

export async function startNames(): Promise<Names> {
  const published = new Map<string, string>();
  const dns = await startDns(
    () => undefined,
    (name) => (published.has(name) ? [published.get(name) ?? ""] : undefined),
  );
  return { ...dns, published };
}

let made = 0;
const newHost = () => `post-${++made}.example.com`;

const ready = (asked: Asked) => async () => asked;

export const posts: Readonly<Record<string, (site: Site, names: Names) => Promise<Asked>>> = {
  "/api/links": ready({ path: "/api/links", body: { url: "https://example.com/once" } }),
  "/api/links/bulk": ready({
    path: "/api/links/bulk",
    body: { links: [{ url: "https://example.com/0" }, { url: "no" }, { url: "https://example.com/2" }] },
  }),
  "/api/links/replace/preview": ready({
    path: "/api/links/replace/preview",
    body: { find: "https://example.com/0", replace: "https://example.org/0" },
  }),
  "/api/links/{id}/share": async (site) => ({
    path: `/api/links/${(await site.create({ url: "https://example.com/shared" })).id}/share`,
    body: { to: `ann-${++made}@example.com` },
  }),
  "/api/links/{id}/undo": async (site) => {
    const { id } = await site.create({ url: "https://example.com/undone" });
    await site.call("PATCH", `/api/links/${id}`, { body: { title: "to be undone" } });
    return { path: `/api/links/${id}/undo`, body: { version: 1 } };
  },
  "/api/trash/{id}/restore": async (site) => {
    const { id } = await site.create({ url: "https://example.com/restored" });
    await site.call("DELETE", `/api/links/${id}`);
    return { path: `/api/trash/${id}/restore` };
  },
  "/api/annotations": ready({
    path: "/api/annotations",
    body: { text: "Made once", at: "2026-01-01T00:00:00Z" },
  }),
  "/api/stats/shares": ready({
    path: "/api/stats/shares",
    body: { tag: "once", days: 7, password: "correct horse" },
  }),
  "/api/imports": async (site) => ({
    path: "/api/imports",
    body: { file: (await site.store("url\nhttps://example.com/once")).id },
  }),
  "/api/utm-templates": async () => ({
    path: "/api/utm-templates",
    body: { name: `Made once ${++made}`, utm: { source: "once" } },
  }),
  "/api/keys": ready({ path: "/api/keys", body: { name: "made once", scopes: ["links:read"] } }),
  "/api/invitations": async () => ({
    path: "/api/invitations",
    body: { email: `guest-${++made}@example.com`, role: "viewer" },
  }),
  "/api/invitations/{id}/resend": async (site) => {
    const reply = await site.call("POST", "/api/invitations", { body: { role: "viewer" } });
    return { path: `/api/invitations/${reply.json<{ id: string }>().id}/resend` };
  },
  "/api/email/webhook/rotate": ready({ path: "/api/email/webhook/rotate" }),
  "/api/files": ready({ path: "/api/files", body: { name: "a file.txt", size: 5, type: "text/plain" } }),
  "/api/files/{id}/complete": async (site) => {
    const body = { name: "a file.txt", size: 5, type: "text/plain" };
    const { id, upload } = (await site.call("POST", "/api/files", { body })).json<UploadBody>();
    await site.send(upload, "hello");
    return { path: `/api/files/${id}/complete` };
  },
  "/api/domains": async () => ({ path: "/api/domains", body: { host: newHost() } }),
  "/api/domains/{host}/verify": async (site, { published }) => {
    const host = newHost();
    const claim = (await site.call("POST", "/api/domains", { body: { host } })).json<{
      proof: { txt: { name: string; value: string } };
    }>();
    published.set(claim.proof.txt.name, claim.proof.txt.value);
    return { path: `/api/domains/${host}/verify` };
  },
};
