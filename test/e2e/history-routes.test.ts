/**
 * Every route and every command that writes leaves a row in the history, or is listed here with the reason why not. The list
 * is compared with the route table and with the commands themselves: a new one cannot be forgotten.
 *
 * Those with a case are called, and the row is looked for. The others are tested where their subject is; here only that the
 * action exists in the source.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultLimits } from "../../src/tenants/tenants.ts";
import { makePerson } from "../ground/people.ts";
import { type LinkBody, must, query, type Site, startSite } from "./servers.ts";

type Document = { paths: Record<string, Record<string, unknown>> };
type Known = { readonly action: string } | { readonly none: string };
type Call = readonly [method: string, path: string, body?: unknown];

const isReading = (method: string): boolean => method === "get" || method === "head";
const onLink = { none: "the creation of a link is recorded on the link" };
const nothing = (why: string) => ({ none: why });
const asks = nothing("asks for a mail or a challenge, and changes nothing yet");

const routes: Readonly<Record<string, Known>> = {
  "POST /api/links": onLink,
  "POST /api/links/bulk": { action: "link.bulk" },
  "PATCH /api/links/bulk": { action: "link.update" },
  "POST /api/links/replace/preview": nothing("shows what would change"),
  "PATCH /api/links/replace": { action: "link.update" },
  "PATCH /api/tags": { action: "link.update" },
  "DELETE /api/tags": { action: "link.update" },
  "POST /api/annotations": { action: "annotation.create" },
  "PATCH /api/annotations/{id}": { action: "annotation.update" },
  "DELETE /api/annotations/{id}": { action: "annotation.delete" },
  "POST /api/utm-templates": { action: "utm-template.create" },
  "PATCH /api/utm-templates/{id}": { action: "utm-template.update" },
  "DELETE /api/utm-templates/{id}": { action: "utm-template.delete" },
  "PATCH /api/branding": { action: "branding.update" },
  "POST /api/stats/shares": { action: "share.create" },
  "DELETE /api/stats/shares/{id}": { action: "share.revoke" },
  "POST /api/imports": { action: "import.create" },
  "PATCH /api/imports/{id}": { action: "import.cancel" },
  "DELETE /api/imports/{id}": { action: "import.delete" },
  "PATCH /api/links/{id}": { action: "link.update" },
  "PUT /api/links/{id}": { action: "link.update" },
  "DELETE /api/links/{id}": { action: "link.delete" },
  "POST /api/links/{id}/undo": { action: "link.undo" },
  "POST /api/links/{id}/share": nothing("sends an email; the row of the email says who got it when"),
  "POST /api/trash/{id}/restore": { action: "link.restore" },
  "DELETE /api/trash/{id}": { action: "link.erase" },
  "DELETE /api/trash": { action: "link.erase" },
  "POST /api/keys": { action: "key.create" },
  "DELETE /api/keys/{id}": { action: "key.revoke" },
  "POST /api/domains": { action: "domain.add" },
  "PATCH /api/domains/{host}": { action: "domain.update" },
  "POST /api/domains/{host}/verify": { action: "domain.verify" },
  "DELETE /api/domains/{host}": { action: "domain.remove" },
  "PATCH /api/stats/settings": { action: "click-settings.update" },
  "POST /api/files": nothing("announces an upload; a file has the time of its creation"),
  "POST /api/files/{id}/complete": nothing("completes an upload; a file has the time of its creation"),
  "DELETE /api/files/{id}": { action: "file.delete" },
  "DELETE /api/email/suppressions/{address}": { action: "suppression.remove" },
  "PATCH /api/email/settings": { action: "email-settings.update" },
  "POST /api/email/webhook/rotate": { action: "email-settings.rotate-webhook" },
  "PATCH /api/workspace": { action: "workspace.update" },
  "DELETE /api/workspace": { action: "workspace.delete" },
  "PUT /api/workspace/owner": { action: "workspace.transfer" },
  "PATCH /api/members/{person}": { action: "member.role" },
  "DELETE /api/members/{person}": { action: "member.remove" },
  "POST /api/invitations": { action: "invitation.create" },
  "POST /api/invitations/{id}/resend": { action: "invitation.renew" },
  "DELETE /api/invitations/{id}": { action: "invitation.revoke" },
  "POST /api/account/workspaces": { action: "workspace.create" },
  "PUT /api/account/workspace": nothing("the workspace that a session shows is not a change of anything"),
  "DELETE /api/account/workspaces/{workspace}": { action: "member.leave" },
  "POST /api/account/workspaces/{workspace}/restore": { action: "workspace.restore" },
  "POST /api/account/invitations/{token}/accept": { action: "member.join" },
  "POST /api/auth/invitations/{token}/accept": { action: "member.join" },
  "PATCH /api/account": { action: "person.update" },
  "POST /api/account/password": { action: "person.update" },
  "POST /api/account/email": asks,
  "POST /api/account/email/confirm": { action: "person.update" },
  "POST /api/account/verification": asks,
  "DELETE /api/account/session": { action: "person.sessions_end" },
  "DELETE /api/account/sessions": { action: "person.sessions_end" },
  "DELETE /api/account/sessions/{id}": { action: "person.sessions_end" },
  "POST /api/account/totp": nothing("begins; nothing is on until it is confirmed"),
  "POST /api/account/totp/confirm": { action: "person.totp_on" },
  "POST /api/account/totp/remove": { action: "person.second_factor_reset" },
  "POST /api/account/recovery-codes": { action: "person.recovery_codes" },
  "DELETE /api/account/devices": nothing("asks for the second factor again; the account stays as it is"),
  "DELETE /api/account/devices/{id}": nothing("asks for the second factor again; the account stays as it is"),
  "POST /api/account/passkeys/begin": asks,
  "POST /api/account/passkeys": { action: "person.passkey_add" },
  "PATCH /api/account/passkeys/{id}": nothing("the label of a passkey, for its person alone"),
  "DELETE /api/account/passkeys/{id}": { action: "person.passkey_remove" },
  "DELETE /api/account": { action: "person.delete" },
  "PATCH /api/operator/people/{person}": { action: "person.disable" },
  "PATCH /api/operator/workspaces/{workspace}": { action: "workspace.update" },
  "DELETE /api/operator/workspaces/{workspace}": { action: "workspace.delete" },
  "POST /api/operator/workspaces/{workspace}/restore": { action: "workspace.restore" },
  "PUT /api/operator/workspaces/{workspace}/suspension": { action: "workspace.suspend" },
  "DELETE /api/operator/workspaces/{workspace}/suspension": { action: "workspace.unsuspend" },
  "PUT /api/operator/plans/{name}": { action: "plan.create" },
  "POST /api/operator/abuse/{id}/dismiss": { action: "abuse.dismiss" },
  "POST /api/operator/abuse/{id}/suspend": { action: "abuse.suspend" },
  "POST /api/auth/sign-in": { action: "person.sign_in" },
  "POST /api/auth/second-factor": { action: "person.sign_in" },
  "POST /api/auth/passkey/begin": asks,
  "POST /api/auth/passkey/finish": { action: "person.sign_in" },
  "POST /api/auth/oidc/begin": asks,
  "POST /api/auth/setup": { action: "person.create" },
  "POST /api/auth/sign-up": asks,
  "POST /api/auth/sign-up/complete": { action: "person.create" },
  "POST /api/auth/reset": asks,
  "POST /api/auth/reset/complete": { action: "person.update" },
  "POST /api/auth/verify": { action: "person.update" },
};

const keptOutside = nothing("changes what the operator keeps outside of the database, or how it is encrypted");

const commands: Readonly<Record<string, Known>> = {
  demo: nothing("creates a sample workspace with everything in it"),
  "link create": onLink,
  "link edit": { action: "link.update" },
  "link disable": { action: "link.update" },
  "link enable": { action: "link.update" },
  "link delete": { action: "link.delete" },
  "link suspend": { action: "link.suspend" },
  "link restore": { action: "link.restore" },
  "trash delete": { action: "link.erase" },
  "trash empty": { action: "link.erase" },
  "tenant create": { action: "workspace.create" },
  "tenant update": { action: "workspace.update" },
  "tenant clicks": { action: "click-settings.update" },
  "tenant suspend": { action: "workspace.suspend" },
  "tenant restore": { action: "workspace.unsuspend" },
  "key create": { action: "key.create" },
  "key revoke": { action: "key.revoke" },
  "plan set": { action: "plan.create" },
  "domain add": { action: "domain.add" },
  "domain verify": { action: "domain.verify" },
  "domain set": { action: "domain.update" },
  "domain remove": { action: "domain.remove" },
  "email webhook": { action: "email-settings.rotate-webhook" },
  "email notices": { action: "email-settings.update" },
  "email test": nothing("sends an email to the operator"),
  import: { action: "link.import" },
  "abuse dismiss": { action: "abuse.dismiss" },
  "abuse suspend": { action: "abuse.suspend" },
  "sync quotas": nothing("corrects counts; a file whose bytes are lost is recorded as deleted by the job files-sync"),
  "user create": { action: "person.create" },
  "user disable": { action: "person.disable" },
  "user enable": { action: "person.enable" },
  "user reset-password": asks,
  "user reset-2fa": { action: "person.second_factor_reset" },
  "user sessions": { action: "person.sessions_end" },
  setup: asks,
  "codes rotate": keptOutside,
  "secrets rotate": keptOutside,
  "cache drop": nothing("makes servers read a link again; nothing of it changes"),
  "cache warm": nothing("fills Redis; nothing changes"),
  restore: nothing("replaces the whole database, and its history with it"),
  migrate: nothing("changes tables, not what is in them"),
};

/** Commands that cannot change anything. */
const readers = [
  ...["serve", "link list", "link get", "link history", "link qr", "trash list", "tenant list", "tenant show"],
  ...["key list", "plan list", "domain list", "user list", "stats", "usage", "export", "backup", "hot", "email stats"],
  ...["cache get", "abuse list", "abuse show", "doctor", "config"],
];

const source = [...new Bun.Glob("**/*.ts").scanSync(join(import.meta.dir, "../../src"))]
  .map((path) => readFileSync(join(import.meta.dir, "../../src", path), "utf8"))
  .join("\n");

describe("every way to change something", () => {
  let site: Site;
  let document: Document;

  beforeAll(async () => {
    site = await startSite("SQLite");
    document = (await site.visit("/openapi.json")).json<Document>();
  });

  afterAll(async () => {
    expect(await site.server.stop()).toBe(0);
  });

  /** The actions that were recorded meanwhile, with who did it. */
  async function recorded(work: () => Promise<unknown>): Promise<string[]> {
    const before = new Set((await rows()).map(({ id }) => id));
    await work();
    return (await rows())
      .filter(({ id }) => !before.has(id))
      .map(({ action, actor_kind }) => `${action} by ${actor_kind}`);
  }

  const rows = async () =>
    (await query(site.env, "select id, action, actor_kind from history order by id")) as {
      id: string;
      action: string;
      actor_kind: string;
    }[];

  let names = 0;
  const fresh = (label: string) => `${label}-${++names}`;
  const newLink = (fields: object = {}): Promise<LinkBody> => site.create({ url: "https://example.com", ...fields });

  async function newTrashed(): Promise<LinkBody> {
    const link = await newLink({ code: fresh("trashed") });
    expect((await site.call("DELETE", `/api/links/${link.id}`)).status).toBe(204);
    return link;
  }

  async function newDomain(): Promise<string> {
    const host = `${fresh("d")}.example.com`;
    expect((await site.call("POST", "/api/domains", { body: { host } })).status).toBe(201);
    return host;
  }

  const newKey = async () =>
    (await site.call("POST", "/api/keys", { body: { name: "k", scopes: ["admin"] } })).json<{ id: string }>().id;
  const newMember = async () => (await makePerson(site, { roles: { default: "viewer" } })).id;
  const newInvitation = async () =>
    (await site.call("POST", "/api/invitations", { body: { role: "viewer" } })).json<{ id: string }>().id;

  async function newSuppression(): Promise<string> {
    const address = `${fresh("a")}@example.com`;
    await query(
      site.env,
      `insert into suppressions (tenant_id, address, reason, created_at)
       select id, '${address}', 'manual', 0 from tenants where slug = 'default'`,
    );
    return address;
  }

  const newAnnotation = async () =>
    (
      await site.call("POST", "/api/annotations", { body: { text: "Newsletter sent", at: "2026-11-01T10:00:00Z" } })
    ).json<{ id: string }>().id;
  const newTemplate = async () =>
    (
      await site.call("POST", "/api/utm-templates", {
        body: { name: fresh("template"), utm: { source: "newsletter" } },
      })
    ).json<{ id: string }>().id;
  const newShare = async () =>
    (await site.call("POST", "/api/stats/shares", { body: { link: (await newLink()).id } })).json<{ id: string }>().id;
  const newImport = async () => {
    const { id: file } = await site.store("code,url\nimported,https://example.com/\n", {
      name: "links.csv",
      type: "text/csv",
    });
    return (await site.call("POST", "/api/imports", { body: { file } })).json<{ id: string }>().id;
  };

  async function newReplacement(): Promise<object> {
    const find = `https://${fresh("host")}.example.com/`;
    await newLink({ url: find });
    const order = { find, replace: "https://example.org/" };
    const preview = await site.call("POST", "/api/links/replace/preview", { body: order });
    return { ...order, token: preview.json<{ token: string }>().token };
  }

  async function newTag(): Promise<string> {
    const tag = fresh("tag");
    await newLink({ tags: [tag] });
    return tag;
  }

  /** Called with the key of the workspace. */
  const calls: Readonly<Record<string, () => Promise<Call>>> = {
    "POST /api/links/bulk": async () => ["POST", "/api/links/bulk", { links: [{ url: "https://example.com" }] }],
    "PATCH /api/links/bulk": async () => [
      "PATCH",
      "/api/links/bulk",
      { action: "edit", ids: [(await newLink()).id], addTags: ["t"] },
    ],
    "PATCH /api/links/replace": async () => ["PATCH", "/api/links/replace", await newReplacement()],
    "PATCH /api/tags": async () => ["PATCH", "/api/tags", { tag: await newTag(), name: fresh("tag") }],
    "DELETE /api/tags": async () => ["DELETE", `/api/tags?tag=${await newTag()}`],
    "POST /api/annotations": async () => ["POST", "/api/annotations", { text: "Sent", at: "2026-11-01T10:00:00Z" }],
    "PATCH /api/annotations/{id}": async () => ["PATCH", `/api/annotations/${await newAnnotation()}`, { text: "T" }],
    "DELETE /api/annotations/{id}": async () => ["DELETE", `/api/annotations/${await newAnnotation()}`],
    "POST /api/utm-templates": async () => [
      "POST",
      "/api/utm-templates",
      { name: fresh("template"), utm: { source: "newsletter" } },
    ],
    "PATCH /api/utm-templates/{id}": async () => [
      "PATCH",
      `/api/utm-templates/${await newTemplate()}`,
      { name: fresh("template") },
    ],
    "DELETE /api/utm-templates/{id}": async () => ["DELETE", `/api/utm-templates/${await newTemplate()}`],
    "PATCH /api/branding": async () => ["PATCH", "/api/branding", { name: fresh("brand") }],
    "POST /api/stats/shares": async () => ["POST", "/api/stats/shares", { link: (await newLink()).id }],
    "DELETE /api/stats/shares/{id}": async () => ["DELETE", `/api/stats/shares/${await newShare()}`],
    "PATCH /api/imports/{id}": async () => ["PATCH", `/api/imports/${await newImport()}`, { state: "cancelled" }],
    "PATCH /api/links/{id}": async () => ["PATCH", `/api/links/${(await newLink()).id}`, { title: "T" }],
    "PUT /api/links/{id}": async () => ["PUT", `/api/links/${(await newLink()).id}`, { url: "https://example.org" }],
    "DELETE /api/links/{id}": async () => ["DELETE", `/api/links/${(await newLink()).id}`],
    "POST /api/links/{id}/undo": async () => {
      const { id } = await newLink({ title: "One" });
      expect((await site.call("PATCH", `/api/links/${id}`, { body: { title: "Two" } })).status).toBe(200);
      return ["POST", `/api/links/${id}/undo`, { version: 1 }];
    },
    "POST /api/trash/{id}/restore": async () => ["POST", `/api/trash/${(await newTrashed()).id}/restore`, {}],
    "DELETE /api/trash/{id}": async () => ["DELETE", `/api/trash/${(await newTrashed()).id}`],
    "DELETE /api/trash": async () => {
      await newTrashed();
      return ["DELETE", "/api/trash"];
    },
    "POST /api/keys": async () => ["POST", "/api/keys", { name: "n", scopes: ["admin"] }],
    "DELETE /api/keys/{id}": async () => ["DELETE", `/api/keys/${await newKey()}`],
    "POST /api/domains": async () => ["POST", "/api/domains", { host: `${fresh("d")}.example.com` }],
    "PATCH /api/domains/{host}": async () => [
      "PATCH",
      `/api/domains/${await newDomain()}`,
      { rootUrl: "https://example.org/" },
    ],
    "DELETE /api/domains/{host}": async () => ["DELETE", `/api/domains/${await newDomain()}`],
    "PATCH /api/stats/settings": async () => ["PATCH", "/api/stats/settings", { timeZone: "Europe/Berlin" }],
    "DELETE /api/files/{id}": async () => ["DELETE", `/api/files/${(await site.store("bytes")).id}`],
    "DELETE /api/email/suppressions/{address}": async () => [
      "DELETE",
      `/api/email/suppressions/${encodeURIComponent(await newSuppression())}`,
    ],
    "PATCH /api/email/settings": async () => ["PATCH", "/api/email/settings", { contact: "ops@example.com" }],
    "POST /api/email/webhook/rotate": async () => ["POST", "/api/email/webhook/rotate", {}],
    "PATCH /api/workspace": async () => ["PATCH", "/api/workspace", { name: "Another name" }],
    "PATCH /api/members/{person}": async () => ["PATCH", `/api/members/${await newMember()}`, { role: "member" }],
    "DELETE /api/members/{person}": async () => ["DELETE", `/api/members/${await newMember()}`],
    "POST /api/invitations": async () => ["POST", "/api/invitations", { role: "viewer" }],
    "POST /api/invitations/{id}/resend": async () => ["POST", `/api/invitations/${await newInvitation()}/resend`, {}],
    "DELETE /api/invitations/{id}": async () => ["DELETE", `/api/invitations/${await newInvitation()}`],
  };

  /** In this order, with the session of an operator. */
  const operatorCalls = (slug: string, person: string): readonly (readonly [title: string, ...Call])[] => {
    const path = `/api/operator/workspaces/${slug}`;
    return [
      ["PATCH /api/operator/workspaces/{workspace}", "PATCH", path, { limits: { linksPerMonth: 7 } }],
      ["PUT /api/operator/workspaces/{workspace}/suspension", "PUT", `${path}/suspension`, { reason: "spam" }],
      ["DELETE /api/operator/workspaces/{workspace}/suspension", "DELETE", `${path}/suspension`],
      ["DELETE /api/operator/workspaces/{workspace}", "DELETE", path],
      ["POST /api/operator/workspaces/{workspace}/restore", "POST", `${path}/restore`],
      ["PUT /api/operator/plans/{name}", "PUT", `/api/operator/plans/${fresh("plan")}`, defaultLimits],
      ["PATCH /api/operator/people/{person}", "PATCH", `/api/operator/people/${person}`, { disabled: true }],
    ];
  };

  const commandLines: Readonly<Record<string, () => Promise<string[]>>> = {
    "link edit": async () => ["link", "edit", (await newLink()).code, "--title", "T"],
    "link disable": async () => ["link", "disable", (await newLink()).code],
    "link enable": async () => ["link", "enable", (await newLink({ status: "disabled" })).code],
    "link delete": async () => ["link", "delete", (await newLink()).code],
    "link suspend": async () => ["link", "suspend", (await newLink()).code, "--reason", "spam"],
    "link restore": async () => ["link", "restore", (await newTrashed()).code],
    "trash delete": async () => ["trash", "delete", (await newTrashed()).code],
    "trash empty": async () => {
      await newTrashed();
      return ["trash", "empty"];
    },
    "tenant create": async () => ["tenant", "create", fresh("tenant")],
    "tenant update": async () => ["tenant", "update", "default", "--links", "123456"],
    "tenant clicks": async () => ["tenant", "clicks", "default", "--zone", "Europe/Paris"],
    "tenant suspend": async () => {
      const slug = fresh("tenant");
      must(await site.cli("tenant", "create", slug));
      return ["tenant", "suspend", slug, "--reason", "spam"];
    },
    "tenant restore": async () => {
      const slug = fresh("tenant");
      must(await site.cli("tenant", "create", slug));
      must(await site.cli("tenant", "suspend", slug, "--reason", "spam"));
      return ["tenant", "restore", slug];
    },
    "key create": async () => ["key", "create", "n"],
    "key revoke": async () => ["key", "revoke", await newKey()],
    "plan set": async () => ["plan", "set", fresh("plan"), "--links", "7"],
    "domain add": async () => ["domain", "add", `${fresh("d")}.example.com`],
    "domain set": async () => ["domain", "set", await newDomain(), "--root", "https://example.org/"],
    "domain remove": async () => ["domain", "remove", await newDomain()],
    "email webhook": async () => ["email", "webhook", "--rotate"],
    "email notices": async () => ["email", "notices", "--off", "spike"],
  };

  test("is in the list: no route is missing, and none is listed that is gone", () => {
    const writing = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).flatMap((method) => (isReading(method) ? [] : [`${method.toUpperCase()} ${path}`])),
    );
    expect(writing.filter((route) => !(route in routes)).toSorted()).toEqual([]);
    expect(Object.keys(routes).filter((route) => !writing.includes(route))).toEqual([]);
  });

  test("is in the list: no command is missing, and none is listed that is gone", async () => {
    const listed = [...Object.keys(commands), ...readers];
    const found = await allCommands([]);
    expect(found.filter((name) => !listed.includes(name)).toSorted()).toEqual([]);
    expect(listed.filter((name) => !found.includes(name)).toSorted()).toEqual([]);
  });

  test("records an action that the source has", () => {
    const actions = [...Object.values(routes), ...Object.values(commands)].flatMap((known) =>
      "action" in known ? [known.action] : [],
    );
    const unknown = [...new Set(actions)].filter((action) => !source.includes(`"${action}"`));
    // Made from the state of the report.
    expect(unknown.filter((action) => !action.startsWith("abuse."))).toEqual([]);
  });

  test("of the API leaves its row, by the key that called", async () => {
    for (const [title, prepare] of Object.entries(calls)) {
      const known = routes[title];
      const [method, path, body] = await prepare();
      const written = await recorded(async () => {
        const reply = await site.call(method, path, body === undefined ? {} : { body });
        expect([title, reply.status < 300 || reply.text]).toEqual([title, true]);
      });
      const expected = known && "action" in known ? `${known.action} by key` : "a listed action";
      expect([title, written.filter((one) => one === expected).length >= 1 || written]).toEqual([title, true]);
    }
  }, 120_000);

  test("on the command line leaves its row, by the command", async () => {
    for (const [title, prepare] of Object.entries(commandLines)) {
      const known = commands[title];
      const words = await prepare();
      const written = await recorded(async () => must(await site.cli(...words)));
      const expected = known && "action" in known ? `${known.action} by command` : "a listed action";
      expect([title, written.includes(expected) || written]).toEqual([title, true]);
    }
  }, 120_000);

  test("of the operator leaves its row, by the person", async () => {
    const operator = await makePerson(site, { operator: true });
    const slug = fresh("operated");
    must(await site.cli("tenant", "create", slug));
    for (const [title, method, path, body] of operatorCalls(slug, (await makePerson(site)).id)) {
      const known = routes[title];
      const written = await recorded(async () => {
        const reply = await operator.call(method, path, body === undefined ? {} : { body });
        expect([title, reply.status < 300 || reply.text]).toEqual([title, true]);
      });
      const expected = known && "action" in known ? `${known.action} by person` : "a listed action";
      expect([title, written.includes(expected) || written]).toEqual([title, true]);
    }
  });

  test("by a person says who", async () => {
    const person = await makePerson(site, { name: "Ann Example", roles: { default: "owner" } });
    const { id } = await newLink();
    expect((await person.call("PATCH", `/api/links/${id}`, { body: { title: "By Ann" } })).status).toBe(200);
    const { items } = (await site.call("GET", `/api/links/${id}/history`)).json<{ items: unknown[] }>();
    expect(items).toMatchObject([
      { action: "link.update", version: 2, by: { kind: "person", id: person.id, name: "Ann Example" } },
      { action: "link.create", version: 1, by: { kind: "key", name: "first key" } },
    ]);
  });

  /** Commands without commands of their own, by their help. */
  async function allCommands(words: readonly string[]): Promise<string[]> {
    const help = (await site.cli(...words, "--help")).stdout;
    const list = /\nCommands:\n([\s\S]*?)(?:\n\n|$)/.exec(help)?.[1] ?? "";
    const children = [...list.matchAll(/^ {2}([a-z0-9-]+)/gm)]
      .map(([, name = ""]) => name)
      .filter((name) => name !== "help");
    if (children.length === 0) return words.length === 0 ? [] : [words.join(" ")];
    const found: string[] = [];
    for (const name of children) found.push(...(await allCommands([...words, name])));
    return found;
  }
});
