import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../ground/process.ts";
import { databases, type LinkBody, must, type ProblemBody, query, type Site, startSite } from "./servers.ts";

type Shown = {
  id: string;
  link: string;
  reason: string;
  details: string | null;
  email: string | null;
  url: string;
  state: string;
  closedBy: string | null;
};

for (const database of databases) {
  describe(`abuse on ${database}`, () => {
    let site: Site;
    let visitors = 0;

    beforeAll(async () => {
      site = await startSite(database, { QL_TRUSTED_PROXIES: "127.0.0.1" });
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const newAddress = () => `198.51.${++visitors >> 8}.${visitors & 255}`;

    /** Sends the form as a browser would, from a separate address. */
    async function report(fields: Record<string, string>, more: RequestInit = {}, address = newAddress()) {
      const response = await fetch(`${site.server.url}/report`, {
        method: "POST",
        redirect: "manual",
        body: new URLSearchParams(fields),
        ...more,
        headers: { "x-forwarded-for": address, ...(more.headers as Record<string, string>) },
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    }

    const listed = async (...options: string[]): Promise<Shown[]> =>
      JSON.parse(must(await site.cli("abuse", "list", "--json", ...options)));
    const statusOf = async (code: string) => (await site.reach(`/${code}`)).status;
    /** In memory, so that a report does not depend on a busy database finding it within 100 ms. */
    async function known(): Promise<LinkBody> {
      const link = await site.create({ url: "https://example.com/" });
      expect(await statusOf(link.code)).toBe(302);
      return link;
    }
    const toBecome = (code: string, status: number) =>
      until(`/${code} to answer ${status}`, async () => (await statusOf(code)) === status || undefined);

    describe("the form", () => {
      test("is one step from the preview, filled in, and needs no script", async () => {
        const { code } = await known();
        const preview = await site.reach(`/${code}+`);
        const [, href = ""] = /<a href="(\/report[^"]*)">Report this link/.exec(preview.text) ?? [];
        const form = await site.visit(href);
        expect(form.status).toBe(200);
        expect(form.text).toContain(`value="${code}"`);
        expect(form.text).not.toContain("<script");
        expect(form.headers.get("content-security-policy")).toContain("default-src 'none'");
        expect(form.headers.get("content-security-policy")).toContain("form-action 'self'");
      });

      test("is stored for the operator, with the link's destination, and thanks the sender", async () => {
        const { code, url } = await site.create({ url: "https://example.com/bad" });
        const sent = await report({
          code: ` ${site.server.url}/${code}+?x=1 `,
          reason: "phishing",
          details: "It looks like\r\nmy bank.",
          email: "somebody@example.org",
        });
        expect([sent.status, sent.headers.get("location")]).toEqual([303, "/report?thanks"]);
        expect((await site.visit("/report?thanks")).text).toContain("Thank you");
        const kept = (await listed()).find((one) => one.link === code);
        expect(kept).toMatchObject({ reason: "phishing", url, email: "somebody@example.org", state: "open" });
        expect(kept?.details).toBe("It looks like\nmy bank.");
        expect(must(await site.cli("abuse", "show", kept?.id ?? ""))).toContain("somebody@example.org");
      });

      test("says what is wrong with a field, and keeps what was typed, harmlessly", async () => {
        const typed = { code: '"><script>x</script>', reason: "<b>", details: "</textarea><b>", email: "no address" };
        const { status, text } = await report(typed);
        expect(status).toBe(422);
        for (const name of ["code", "reason", "email"]) expect(text).toContain(`id="${name}-wrong"`);
        expect(text).toContain("&#60;/textarea&#62;");
        expect(text).not.toMatch(/<script|<b>/);
      });

      test("takes no more than there is room for, and nothing about a link that does not exist", async () => {
        const { code } = await known();
        expect((await report({ code, reason: "spam", details: "x".repeat(2_001) })).status).toBe(422);
        expect((await report({ code: "does-not-exist", reason: "spam" })).text).toContain("This link does not exist");
        expect((await report({ code, reason: "spam", details: "x".repeat(40_000) })).status).toBe(415);
        expect((await report({}, { body: "{}", headers: { "content-type": "application/json" } })).status).toBe(415);
        expect((await report({}, { method: "PUT" })).status).toBe(405);
        expect((await report({ code, reason: "spam", details: "ä".repeat(2_000) })).status).toBe(303);
      });

      test("can be sent ten times an hour from one address, and others are not in the way", async () => {
        const { code } = await known();
        const address = newAddress();
        const statuses: number[] = [];
        for (let i = 0; i < 11; i++) statuses.push((await report({ code, reason: "other" }, {}, address)).status);
        expect(statuses).toEqual([...Array.from({ length: 10 }, () => 303), 429]);
        expect((await report({ code, reason: "other" })).status).toBe(303);
      });

      test("fills up for one link after twenty reports, and thanks the others all the same", async () => {
        const { code } = await known();
        for (let i = 0; i < 22; i++) expect((await report({ code, reason: "spam" })).status).toBe(303);
        expect((await listed("--limit", "1000")).filter((one) => one.link === code)).toHaveLength(20);
      });

      test("is not at addresses that only begin like it", async () => {
        expect((await site.visit("/report/x")).status).toBe(404);
        expect((await site.visit("/report.html")).status).toBe(404);
      });
    });

    describe("the operator", () => {
      test("sees what a report says, and no line that it made up", async () => {
        const { code } = await known();
        const commanding = ["\r", "\u001b", "\u009b", "\u202e"];
        const forged = "harmless\rstate\tdismissed\nreason\tnone \u001b[2K\u009b1A \u202emoc.elpmaxe";
        expect((await report({ code, reason: "phishing", details: forged })).status).toBe(303);
        const [made] = (await listed()).filter(({ link }) => link === code);
        expect(made?.details).toBe("harmless\nstate\tdismissed\nreason\tnone [2K1A \u202emoc.elpmaxe");
        // One that was kept before reports were cleaned of these.
        const kept = database === "SQLite" ? "char(13) || char(27) || char(155)" : "chr(13) || chr(27) || chr(155)";
        await query(site.env, `update abuse_reports set details = details || ${kept} where id = '${made?.id}'`);
        const shown = must(await site.cli("abuse", "show", made?.id ?? ""));
        expect(commanding.filter((one) => shown.includes(one))).toEqual([]);
        const names = shown
          .trimEnd()
          .split("\n")
          .map((line) => line.split("\t")[0]);
        expect(names).toEqual([
          ...["id", "link", "reason", "details", "email", "url", "state", "createdAt", "closedAt", "closedBy"],
        ]);
        expect(shown).toContain("details\tharmless\\u000astate\\u0009dismissed");
        const json = must(await site.cli("abuse", "show", made?.id ?? "", "--json"));
        expect(commanding.filter((one) => json.includes(one))).toEqual([]);
        expect(JSON.parse(json).details).toBe(`${made?.details}\r\u001b\u009b`);
      });

      test("dismisses a report, once, and the link keeps working", async () => {
        const { code } = await known();
        await report({ code, reason: "other" });
        const id = (await listed()).find((one) => one.link === code)?.id ?? "";
        must(await site.cli("abuse", "dismiss", id, "--by", "night shift"));
        expect((await listed("--state", "dismissed")).find((one) => one.id === id)?.closedBy).toBe("night shift");
        expect((await site.cli("abuse", "dismiss", id)).stderr).toContain("dismissed by night shift");
        expect(await statusOf(code)).toBe(302);
      });

      test("suspends what was reported: 451 everywhere, whatever its owner does, until it is restored", async () => {
        const link = await site.create({ url: "https://example.com/", fallbackUrl: "https://example.com/else" });
        expect(await statusOf(link.code)).toBe(302);
        await report({ code: link.code, reason: "malware" });
        await report({ code: link.code, reason: "phishing" });
        const id = (await listed()).find((one) => one.link === link.code)?.id ?? "";
        expect(must(await site.cli("abuse", "suspend", id))).toContain("closed 2 reports");
        await toBecome(link.code, 451);
        const page = await site.reach(`/${link.code}`);
        expect(page.text).toContain("This link is suspended");
        expect(page.text).not.toMatch(/malware|example\.com/);
        expect((await site.reach(`/${link.code}+`)).status).toBe(451);
        const asked = await site.reach(`/${link.code}`, { accept: "application/json" });
        expect(asked.json<ProblemBody>().code).toBe("link_suspended");

        const edited = await site.call("PATCH", `/api/links/${link.id}`, { body: { url: "https://example.com/new" } });
        expect(edited.json<LinkBody>()).toMatchObject({ status: "active", suspended: "reported: malware" });
        expect((await site.call("DELETE", `/api/links/${link.id}`)).status).toBe(204);
        expect((await site.call("POST", `/api/trash/${link.id}/restore`)).json<LinkBody>()).toMatchObject({
          suspended: "reported: malware",
        });
        await toBecome(link.code, 451);
        expect((await site.call("DELETE", `/api/links/${link.id}`)).status).toBe(204);
        expect((await site.call("DELETE", `/api/trash/${link.id}`)).status).toBe(204);
        await site.create({ url: "https://example.com/again", code: link.code });
        await toBecome(link.code, 451);

        must(await site.cli("link", "restore", link.code));
        await toBecome(link.code, 302);
        expect((await site.cli("link", "restore", link.code)).stderr).toContain("not suspended");
      });

      test("suspends any link by its code, with a reason", async () => {
        const { code, id } = await site.create({ url: "https://example.com/" });
        expect((await site.cli("link", "suspend", code)).code).toBe(2);
        expect((await site.cli("link", "suspend", "never-was", "--reason", "x")).stderr).toContain("has ever existed");
        must(await site.cli("link", "suspend", code, "--reason", "a court said so"));
        await toBecome(code, 451);
        expect((await site.call("GET", `/api/links/${id}`)).json<LinkBody>().suspended).toBe("a court said so");
      });

      test("suspends a tenant: no key works, no link leads on, and all is as before when it is restored", async () => {
        const key = await site.tenant("outlaws");
        const made = await site.call("POST", "/api/links", { key, body: { url: "https://example.com/" } });
        const { code } = made.json<LinkBody>();
        expect(await statusOf(code)).toBe(302);
        const bystander = await site.create({ url: "https://example.com/" });
        expect(must(await site.cli("tenant", "suspend", "outlaws", "--reason", "spam"))).toContain(
          "its API keys and links stop on every server",
        );
        const refused = await site.call("GET", "/api/links", { key });
        expect([refused.status, refused.json<ProblemBody>().code]).toEqual([403, "suspended"]);
        await toBecome(code, 451);
        expect(await statusOf(bystander.code)).toBe(302);
        expect(must(await site.cli("tenant", "show", "outlaws"))).toContain("spam");
        must(await site.cli("tenant", "restore", "outlaws"));
        await toBecome(code, 302);
        expect((await site.call("GET", "/api/links", { key })).status).toBe(200);
      });
    });
  });
}
