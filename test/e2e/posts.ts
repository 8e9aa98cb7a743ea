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
  "/api/links/{id}/share": async (site) => ({
    path: `/api/links/${(await site.create({ url: "https://example.com/shared" })).id}/share`,
    body: { to: `ann-${++made}@example.com` },
  }),
  "/api/keys": ready({ path: "/api/keys", body: { name: "made once", scopes: ["links:read"] } }),
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
