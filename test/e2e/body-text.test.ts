/** Text that PostgreSQL does not take, and numbers that no column has, in every field of every body of the API. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { exampleOf } from "../../src/http/docs-page.ts";
import {
  bodyOf,
  type Document,
  fieldsOf,
  type JsonSchema,
  type Route,
  resolve,
  routesOf,
} from "../../src/http/openapi.ts";
import { databases, type LinkBody, type Site, startSite } from "./servers.ts";

const texts = ["a\0b", "\0", "a\ud800", "\udc00b"];
const numbers = [2 ** 31, 2 ** 53 - 1, -(2 ** 31) - 1];
const depthMost = 5;

type Body = Readonly<Record<string, unknown>>;

/** Bodies that differ from a fitting one in a single value, which the schema names. */
function* badBodies(document: Document, schema: JsonSchema, good: unknown, depth = 0): Generator<[string, unknown]> {
  const whole = resolve(document, schema);
  if (depth > depthMost) return;
  for (const choice of [...(whole.anyOf ?? []), ...(whole.oneOf ?? [])])
    yield* badBodies(document, choice, good, depth + 1);
  const kinds = [whole.type ?? []].flat();
  if (kinds.includes("string")) for (const text of texts) yield ["", text];
  if (kinds.includes("integer") || kinds.includes("number")) for (const number of numbers) yield ["", number];
  if (kinds.includes("array")) {
    const [first] = Array.isArray(good) ? good : [];
    yield ["", []];
    for (const [name, value] of badBodies(
      document,
      whole.items ?? {},
      first ?? exampleOf(document, whole.items ?? {}),
      depth + 1,
    )) {
      yield [`.0${name}`, [value]];
    }
  }
  const known = good !== null && typeof good === "object" ? (good as Body) : {};
  for (const { name, field } of fieldsOf(document, whole)) {
    for (const [inner, value] of badBodies(document, field, known[name] ?? exampleOf(document, field), depth + 1)) {
      yield [`.${name}${inner}`, { ...known, [name]: value }];
    }
  }
}

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

    const isForKeys = ({ operation }: Route) => operation.security?.some((one) => "key" in one) ?? false;

    test("a NUL, half a character or a huge number in a body of any route is the caller's mistake", async () => {
      const wrong: string[] = [];
      let asked = 0;
      for (const { method, path, operation } of routesOf(document).filter(isForKeys)) {
        const schema = bodyOf(operation);
        if (schema === undefined) continue;
        const address = path.replace(/\{\w+\}/g, link.id);
        for (const [field, body] of badBodies(document, schema, withLink(exampleOf(document, schema)))) {
          const { status } = await site.call(method, address, { body });
          asked++;
          if (status >= 500) wrong.push(`${method} ${path} ${field} ${status}`);
        }
      }
      expect(wrong).toEqual([]);
      expect(asked).toBeGreaterThan(500);
    }, 60_000);

    /** The example names a link that does not exist. */
    const withLink = (body: unknown): unknown =>
      JSON.parse(JSON.stringify(body).replace(/lnk_[0-9a-z]{26}/g, link.id)) as unknown;
  });
}
