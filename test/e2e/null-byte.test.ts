/** PostgreSQL takes no text with a NUL: none that a caller sends may get there, by any parameter of any route. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { exampleOf } from "../../src/http/docs-page.ts";
import { bodyOf, type Document, type Parameter, type Route, routesOf } from "../../src/http/openapi.ts";
import { makePerson } from "../ground/people.ts";
import { databases, type LinkBody, type Site, startSite } from "./servers.ts";

/** A NUL inside something that otherwise has the form of an address, a host, an id, a word and a cursor. */
const texts = ["a%00b%40x.example", "a%00b.example", "lnk_0%00", "a%00b", "%00", "%00.%00"];

const callsOfOne = 40;

for (const database of databases) {
  describe(`on ${database}`, () => {
    let site: Site;
    let document: Document;
    let link: LinkBody;

    beforeAll(async () => {
      site = await startSite(database);
      document = (await site.visit("/openapi.json")).json<Document>();
      link = await site.create({ url: "https://example.com/" });
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    /** The route's address with this text in that parameter, and something fitting in those that it needs besides. */
    function addressOf({ path, operation }: Route, bad: Parameter, text: string): string {
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
        bad.in === "path" && bad.name === name ? text : link.id,
      );
      const query = (operation.parameters ?? [])
        .filter((one) => one.in === "query" && (one.required || one === bad))
        .map((one) => `${one.name}=${one === bad ? text : encodeURIComponent(String(one.example ?? ""))}`);
      return `${filled}${query.length > 0 ? `?${query.join("&")}` : ""}`;
    }

    test("a NUL in a parameter of any route is the caller's mistake", async () => {
      const asked: string[] = [];
      const wrong: string[] = [];
      for (const route of routesOf(document)) {
        const schema = bodyOf(route.operation);
        const body = schema && exampleOf(document, schema);
        for (const bad of route.operation.parameters ?? []) {
          if (bad.in === "header") continue;
          for (const text of texts) {
            const address = addressOf(route, bad, text);
            const { status } = await site.call(route.method, address, body === undefined ? {} : { body });
            asked.push(`${route.operation.operationId} ${bad.name}`);
            if (status >= 500 || status === 429) wrong.push(`${route.method} ${address} ${status}`);
          }
        }
      }
      expect(wrong).toEqual([]);
      for (const known of ["removeSuppression address", "listLinks search", "listLinks cursor", "getLink id"]) {
        expect(asked).toContain(known);
      }
    });

    test("nor is it ours on the routes for people and operators, or in a body", async () => {
      const wrong: string[] = [];
      let [operator, calls] = [await makePerson(site, { operator: true }), 0];
      /** A person has a limit of calls. */
      async function call(method: string, address: string, body: unknown): Promise<void> {
        if (++calls % callsOfOne === 0) operator = await makePerson(site, { operator: true });
        const { status } = await operator.call(method, address, body === undefined ? {} : { body });
        if ((status >= 500 && status !== 501) || status === 429) wrong.push(`${method} ${address} ${status}`);
      }
      const isOurs = ({ path }: Route) => /^\/api\/(account|operator)/.test(path);
      for (const route of routesOf(document).filter(isOurs)) {
        const schema = bodyOf(route.operation);
        const body = schema && exampleOf(document, schema);
        for (const bad of route.operation.parameters ?? []) {
          if (bad.in === "header") continue;
          for (const text of ["a%00b", "%00"]) await call(route.method, addressOf(route, bad, text), body);
        }
      }
      await call("PATCH", "/api/operator/workspaces/default", { plan: "a\0b" });
      expect(wrong).toEqual([]);
      expect(calls).toBeGreaterThan(30);
    });

    test("so is one in the path of a link and of everything else that is public", async () => {
      for (const path of ["/", "/email/unsubscribe/", "/email/events/", "/files/", "/uploads/", "/report/", "/docs"]) {
        for (const text of texts) {
          for (const address of [`${path}${text}`, `${path}${text}+`, `${path}?domain=${text}&token=${text}`]) {
            const { status } = await site.visit(address);
            expect([address, status < 500]).toEqual([address, true]);
          }
        }
      }
    });
  });
}
