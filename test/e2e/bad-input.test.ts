import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { until } from "../ground/process.ts";
import { badRules } from "./bad-rules.ts";
import {
  type CallOptions,
  databases,
  hangingRequest,
  type LinkBody,
  type ProblemBody,
  type Reply,
  raw,
  type Site,
  startSite,
} from "./servers.ts";

/** A field, an invalid value, and the code that says why. */
type Bad = readonly [field: string, value: unknown, code: string];

const long = (length: number) => "x".repeat(length);
const https = "https://example.com/";

/** What no destination may be, for `url` and `fallbackUrl` alike. */
const badDestinations = (port: number): readonly (readonly [unknown, string])[] => [
  [1, "wrong_type"],
  [true, "wrong_type"],
  [[https], "wrong_type"],
  [{ href: https }, "wrong_type"],
  ["", "empty"],
  [" \u00a0 ", "empty"],
  [https + long(2_048), "too_long"],
  [https + long(100_000), "too_long"],
  [https + "ü".repeat(400), "too_long"],
  [`https://${"a.".repeat(1_020)}example.com`, "too_long"],
  ["https://exam\tple.com/", "control_characters"],
  ["https://example.com/\r\nSet-Cookie: a=b", "control_characters"],
  ["https://example.com/\u0000", "control_characters"],
  ["https://example.com/\u007f", "control_characters"],
  ["https://example.com/\u0085", "control_characters"],
  ["ht\ntps://example.com/", "control_characters"],
  ["java\tscript:alert(1)", "control_characters"],
  ["java\nscript:alert(1)", "control_characters"],
  ["\u0001javascript:alert(1)", "control_characters"],
  ["javascript:alert(1)", "scheme_not_allowed"],
  [" JaVaScRiPt:alert(1)", "scheme_not_allowed"],
  ["javascript://example.com/%0aalert(1)", "scheme_not_allowed"],
  ["data:text/html,<script>alert(1)</script>", "scheme_not_allowed"],
  ["vbscript:x", "scheme_not_allowed"],
  ["file:///etc/passwd", "scheme_not_allowed"],
  ["ftp://example.com/", "scheme_not_allowed"],
  ["blob:https://example.com/1", "scheme_not_allowed"],
  ["mailto:a@example.com", "scheme_not_allowed"],
  ["https://user:secret@example.com/", "credentials"],
  ["https://user@example.com/", "credentials"],
  ["https://:secret@example.com/", "credentials"],
  ["https://example.com%40:x@evil.example/", "credentials"],
  [`http://localhost:${port}/x`, "own_host"],
  [`HTTPS://LOCALHOST:${port}`, "own_host"],
  [`http://ｌｏｃａｌｈｏｓｔ:${port}/`, "own_host"],
  [`http:\\\\localhost:${port}\\x`, "own_host"],
  ["example.com", "not_a_url"],
  ["//example.com/", "not_a_url"],
  ["/api/links", "not_a_url"],
  ["https://", "not_a_url"],
  ["https://exa mple.com/", "not_a_url"],
  ["https://[::1", "not_a_url"],
  ["https://256.256.256.256/", "not_a_url"],
  ["https://example.com:99999/", "not_a_url"],
  ["https://\u00ad/", "not_a_url"],
  ["https://a\ufffdb.example/", "not_a_url"],
  ["https://xn--a/", "not_a_url"],
  ["https://ex%00ample.com/", "not_a_url"],
];

const badFields = (port: number): readonly Bad[] => [
  ...badDestinations(port).map(([value, code]): Bad => ["url", value, code]),
  ["url", null, "required"],
  ...badDestinations(port).map(([value, code]): Bad => ["fallbackUrl", value, code]),
  ...["true", 1, null, []].map((value): Bad => ["permanent", value, "wrong_type"]),
  ...["gone", "ACTIVE", "", 1, null, ["active"]].map((value): Bad => ["status", value, "not_accepted"]),
  ...[1_900_000_000_000, true, ["2099-01-01T00:00:00Z"]].map((value): Bad => ["expiresAt", value, "wrong_type"]),
  ...["", "tomorrow", "2099-01-01", "2099-13-01T00:00:00Z", "2099-02-30T00:00:00Z", "2099-01-01T00:00:00"].map(
    (value): Bad => ["expiresAt", value, "bad_format"],
  ),
  ["expiresAt", "2000-01-01T00:00:00Z", "in_the_past"],
  ...[1, false, ["a"], {}].map((value): Bad => ["title", value, "wrong_type"]),
  ["title", long(201), "too_long"],
  ["title", "", "blank"],
  ["title", " \u2003", "blank"],
  ...["a\u0000b", "a\nb", "a\tb", "\u001b[31mred", "a\u009bb"].map(
    (value): Bad => ["title", value, "control_characters"],
  ),
  ["title", "lone \ud800 surrogate", "bad_unicode"],
  ["title", "\udc00", "bad_unicode"],
  ["notes", 1, "wrong_type"],
  ["notes", long(2_001), "too_long"],
  ["notes", "\n", "blank"],
  ["notes", "a\u0000b", "control_characters"],
  ["notes", "\u001b[31mred", "control_characters"],
  ["notes", "\udfff", "bad_unicode"],
  ["tags", "one", "wrong_type"],
  ["tags", { 0: "one" }, "wrong_type"],
  ["tags", null, "wrong_type"],
  ["tags", Array.from({ length: 21 }, (_, n) => `tag ${n}`), "too_many"],
  ["tags", ["same", "same"], "duplicate"],
  ["tags.1", ["fine", 1], "wrong_type"],
  ["tags.0", [null], "wrong_type"],
  ["tags.0", [long(51)], "too_long"],
  ["tags.0", [""], "blank"],
  ["tags.0", ["a\nb"], "control_characters"],
  ["tags.0", ["\ud800"], "bad_unicode"],
  ...["5", true, [5], 1.5].map((value): Bad => ["hitsPerMonth", value, "wrong_type"]),
  ["hitsPerMonth", 0, "too_small"],
  ["hitsPerMonth", -1, "too_small"],
  ["hitsPerMonth", 1_000_000_001, "too_big"],
  ...["no", 0, null].map((value): Bad => ["clickFacts", value, "wrong_type"]),
  ...badRules(port),
  ...["uRL", "id", "tenantId", "version", "createdAt", "shortUrl", "", "constructor", "prototype", "toString"].map(
    (name): Bad => [name, "x", "unknown_field"],
  ),
];

/** Of what is said when a link is made, and never after. */
const badCodes: readonly Bad[] = [
  ["domain", "x", "unknown_domain"],
  ["domain", "elsewhere.example.com", "unknown_domain"],
  ["domain", 5, "wrong_type"],
  ["domain", long(301), "too_long"],
  ["code", 1, "wrong_type"],
  ["code", null, "wrong_type"],
  ["code", ["abc"], "wrong_type"],
  ["code", long(101), "too_long"],
  ...[
    "",
    "ab",
    long(65),
    "a b",
    "a/b",
    "abc+",
    "a.b",
    "robots.txt",
    ".well-known",
    "äbcd",
    "abc\n",
    "\u0000abc",
    "%61bc",
    ".*",
    "^abc$",
    "(a+)+$",
    "[a-z]{3,}",
    "a|b",
    "abc\\d",
  ].map((value): Bad => ["code", value, "bad_code"]),
  ...["api", "API", "Healthz", "metrics", "ADMIN", "well-known"].map((value): Bad => ["code", value, "reserved"]),
];

/** A link stays on the domain that it was made on. */
const badDomains: readonly Bad[] = [
  ["domain", 1, "wrong_type"],
  ["domain", long(301), "too_long"],
  ...["", " ", "x", "somebody-elses.example", "../api", "a\r\nb", "a\u0000b", "\ud800", "127.0.0.1"].map(
    (value): Bad => ["domain", value, "unknown_domain"],
  ),
];
const badPlaces = [...badCodes, ...badDomains];

const show = (value: unknown) => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text;
};

/** The field's name is the key to set, but for one inside a list. */
const withField = ([field, value]: Bad) => ({ url: https, [field.split(".")[0] ?? ""]: value });

function expectProblem(reply: Reply, status: number, code: string): ProblemBody {
  expect({ status: reply.status, text: reply.text }).toEqual({ status, text: expect.stringContaining(`"${code}"`) });
  expect(reply.headers.get("content-type")).toBe("application/problem+json");
  const problem = reply.json<ProblemBody>();
  expect(problem).toMatchObject({ type: `urn:quicklink:problem:${code}`, status, code });
  expect(problem.title).not.toBe("");
  expect(problem.detail).not.toBe("");
  return problem;
}

function expectField(reply: Reply, field: string, code: string): void {
  const { errors } = expectProblem(reply, 422, "invalid_input");
  expect(errors?.[0]).toEqual({ field, code, message: expect.stringMatching(/\S/) });
}

for (const database of databases) {
  describe(`on ${database}`, () => {
    let site: Site;
    let link: LinkBody;

    beforeAll(async () => {
      site = await startSite(database);
      link = await site.create({ url: https, title: "stays as it is" });
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    /** Whatever is asked in there, nothing is written and the server stays up. */
    async function harmlessly<Result>(work: () => Promise<Result>): Promise<Result> {
      const before = await site.rows();
      const result = await work();
      expect((await site.visit("/healthz")).status).toBe(200);
      expect(await site.rows()).toEqual(before);
      return result;
    }

    const post = (options: CallOptions) => site.call("POST", "/api/links", options);
    const postJson = (text: CallOptions["text"], type = "application/json") =>
      post({ headers: { "content-type": type }, ...(text === undefined ? {} : { text }) });

    /** The first bad field of an answer, in one line; all answers are compared at once, so that one failure hides no other. */
    const outcome = (reply: Reply) => {
      if (reply.status !== 422) return `${reply.status} ${reply.text}`;
      const error = expectProblem(reply, 422, "invalid_input").errors?.[0];
      expect(error?.message).toMatch(/\S/);
      return `${error?.field}: ${error?.code}`;
    };

    for (const [title, method] of [
      ["made", "POST"],
      ["changed", "PATCH"],
      ["replaced", "PUT"],
    ] as const) {
      test(`no link is ${title} with a bad field, and the field is named`, async () => {
        const path = method === "POST" ? "/api/links" : `/api/links/${link.id}`;
        const bad = badFields(site.server.port);
        const found: string[] = [];
        await harmlessly(async () => {
          for (const one of bad) {
            found.push(`${show(one[1])} ${outcome(await site.call(method, path, { body: withField(one) }))}`);
          }
        });
        expect(found).toEqual(bad.map(([field, value, code]) => `${show(value)} ${field}: ${code}`));
      });
    }

    test("no link is made with a bad code or domain, and neither can be changed at all", async () => {
      const found: string[] = [];
      await harmlessly(async () => {
        for (const bad of badPlaces) found.push(`${show(bad[1])} ${outcome(await post({ body: withField(bad) }))}`);
        for (const method of ["PATCH", "PUT"]) {
          for (const field of ["code", "domain"]) {
            const reply = await site.call(method, `/api/links/${link.id}`, {
              body: { url: https, [field]: "another" },
            });
            expectField(reply, field, "unknown_field");
          }
        }
      });
      expect(found).toEqual(badPlaces.map(([field, value, code]) => `${show(value)} ${field}: ${code}`));
    });

    test("bad elements of a bulk request are refused one by one, for the same reasons", async () => {
      const bad = [...badFields(site.server.port), ...badPlaces];
      const reply = await harmlessly(() =>
        site.call("POST", "/api/links/bulk", { body: { links: bad.map((one) => withField(one)) } }),
      );
      const { results } = reply.json<{ results: { problem?: ProblemBody }[] }>();
      const found = results.map(({ problem }) => `${problem?.errors?.[0]?.field}: ${problem?.errors?.[0]?.code}`);
      expect(found).toEqual(bad.map(([field, , code]) => `${field}: ${code}`));
    });

    test("this server's own name with a dot at its end is still its own", async () => {
      await harmlessly(async () => {
        const url = `http://localhost.:${site.server.port}/x`;
        expect(outcome(await post({ body: { url } }))).toBe("url: own_host");
        expect(outcome(await post({ body: { url: https, fallbackUrl: url } }))).toBe("fallbackUrl: own_host");
      });
    });

    test("what is needed is missed by name", async () => {
      await harmlessly(async () => {
        for (const body of [{}, { title: "no url" }]) expectField(await post({ body }), "url", "required");
        for (const body of [null, [], "text", 5, [{ url: https }]]) expectField(await post({ body }), "", "wrong_type");
        expectField(await site.call("PUT", `/api/links/${link.id}`, { body: { title: "x" } }), "url", "required");
        expectField(await site.call("POST", "/api/links/bulk", { body: {} }), "links", "required");
        expectField(await site.call("POST", "/api/links/bulk", { body: { links: {} } }), "links", "wrong_type");
      });
    });

    test("several bad fields are all named at once", async () => {
      const reply = await harmlessly(() => post({ body: { url: 1, title: 2, tags: 3, nope: 4 } }));
      const fields = expectProblem(reply, 422, "invalid_input").errors?.map(({ field }) => field);
      expect(fields?.toSorted()).toEqual(["nope", "tags", "title", "url"]);
    });

    test("keys that mean something to JavaScript are unknown fields, wherever they stand", async () => {
      await harmlessly(async () => {
        for (const key of ["__proto__", "constructor", "hasOwnProperty", "__defineGetter__", "valueOf"]) {
          const body = `{"url":"${https}","${key}":{"permanent":true,"isAdmin":true}}`;
          expectField(await postJson(body), key, "unknown_field");
          const bulk = await site.call("POST", "/api/links/bulk", {
            text: `{"links":[${body}]}`,
            headers: { "content-type": "application/json" },
          });
          expect(bulk.json<{ created: number }>().created).toBe(0);
        }
        expectField(await postJson(`{"__proto__":{"url":"${https}"}}`), "__proto__", "unknown_field");
      });
      expect((await site.create({ url: https })).permanent).toBe(false);
    });

    test("more hits than the plan gives are refused", async () => {
      const key = await site.tenant("modest", "default");
      const reply = await harmlessly(() => post({ key, body: { url: https, hitsPerMonth: 10_001 } }));
      expectField(reply, "hitsPerMonth", "above_plan");
      expect((await post({ key, body: { url: https, hitsPerMonth: 10_000 } })).status).toBe(201);
    });

    test("a taken code is refused, also to another tenant, and only in the same case", async () => {
      const code = "Taken-Once";
      await site.create({ url: https, code });
      const key = await site.tenant("latecomer");
      await harmlessly(async () => {
        for (const options of [{}, { key }]) {
          const reply = await post({ ...options, body: { url: https, code } });
          expect(expectProblem(reply, 409, "code_taken").errors?.[0]).toMatchObject({ field: "code", code: "taken" });
        }
      });
      for (const variant of ["taken-once", "TAKEN-ONCE"]) {
        expect((await site.create({ url: https, code: variant })).code).toBe(variant);
      }
    });

    test("of many who want one code at the same time exactly one gets it", async () => {
      const replies = await Promise.all(
        Array.from({ length: 10 }, () => post({ body: { url: https, code: "One-Only" } })),
      );
      expect(replies.map((reply) => reply.status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    });

    test("a body that is not JSON is refused as such", async () => {
      await harmlessly(async () => {
        for (const text of [
          "{",
          '{"url":',
          "nope",
          "{]",
          `{"url":"${https}",}`,
          `{"url":"${https}"} {}`,
          "{'url':1}",
          "NaN",
        ]) {
          expectProblem(await postJson(text), 400, "invalid_json");
        }
        for (const path of [`/api/links/${link.id}`, "/api/links/bulk", "/api/keys"]) {
          const method = path.startsWith("/api/links/lnk") ? "PATCH" : "POST";
          const reply = await site.call(method, path, { text: "{", headers: { "content-type": "application/json" } });
          expectProblem(reply, 400, "invalid_json");
        }
      });
    });

    test("an empty body where JSON is announced is the caller's mistake, not ours", async () => {
      await harmlessly(async () => {
        for (const reply of [
          await postJson(""),
          await postJson(undefined),
          await postJson("", "application/json; charset=utf-8"),
        ]) {
          expect(reply.status).toBeOneOf([400, 422]);
          expect(reply.json<ProblemBody>().code).toBeOneOf(["invalid_json", "invalid_input"]);
        }
      });
    });

    test("no body at all misses what is needed", async () => {
      expectField(await harmlessly(() => site.call("POST", "/api/links")), "url", "required");
    });

    test("bytes that are not UTF-8 are refused", async () => {
      await harmlessly(async () => {
        for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf5, 0x80, 0x80, 0x80]]) {
          const text = Buffer.concat([Buffer.from(`{"url":"${https}`), Buffer.from(bytes), Buffer.from('"}')]);
          expectProblem(await postJson(text), 400, "invalid_json");
        }
        expectProblem(await postJson(Buffer.from(`{"url":"${https}"}`, "utf16le")), 400, "invalid_json");
      });
    });

    test("a body that is not announced as JSON is refused", async () => {
      await harmlessly(async () => {
        const text = JSON.stringify({ url: https });
        for (const type of [
          "text/plain",
          "application/x-www-form-urlencoded",
          "application/jsonp",
          "text/json",
          "multipart/form-data",
        ]) {
          expectProblem(await postJson(text, type), 415, "unsupported_media_type");
        }
        expectProblem(await post({ text: new TextEncoder().encode(text) }), 415, "unsupported_media_type");
      });
    });

    test("JSON is taken however its media type is spelled", async () => {
      const types = ["application/json;charset=utf-8", "application/json ; charset=UTF-8", "application/json;"];
      types.push("Application/JSON", "application/vnd.x2+json");
      const replies = await Promise.all(types.map((type) => postJson(JSON.stringify({ url: https }), type)));
      expect(types.map((type, n) => `${type}: ${replies[n]?.status}`)).toEqual(types.map((type) => `${type}: 201`));
    });

    test("JSON nested a hundred thousand deep is refused like any other value", async () => {
      await harmlessly(async () => {
        const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
        for (const text of [deep, `{"url":${deep}}`, `{"url":"${https}","tags":${deep}}`, `{"nope":${deep}}`]) {
          const reply = await postJson(text);
          expect(reply.status).toBeOneOf([400, 422]);
          expectProblem(reply, reply.status, reply.status === 400 ? "invalid_json" : "invalid_input");
        }
        const objects = `{"url":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`;
        expect((await postJson(objects)).status).toBeOneOf([400, 422]);
        const open = await postJson("[".repeat(100_000));
        expectProblem(open, 400, "invalid_json");
        const bulk = await site.call("POST", "/api/links/bulk", {
          text: `{"links":[${deep}]}`,
          headers: { "content-type": "application/json" },
        });
        expect(bulk.json<{ failed: number }>().failed).toBe(1);
      });
    });

    test("ten thousand unknown fields are answered with a short list", async () => {
      const body = { url: https, ...Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`field${n}`, n])) };
      const reply = await harmlessly(() => post({ body }));
      expect(expectProblem(reply, 422, "invalid_input").errors?.length).toBeLessThanOrEqual(20);
    });

    test("a body of 10 MB is refused with a problem, announced or in pieces", async () => {
      const big = JSON.stringify({ url: https, title: long(10_000_000) });
      await harmlessly(async () => {
        const pieces = new ReadableStream<Uint8Array>({
          start(controller) {
            const bytes = new TextEncoder().encode(big);
            for (let at = 0; at < bytes.length; at += 65_536) controller.enqueue(bytes.subarray(at, at + 65_536));
            controller.close();
          },
        });
        expectProblem(await postJson(pieces), 413, "body_too_large");
        expectProblem(await postJson(big), 413, "body_too_large");
      });
    });

    test("a body just over the limit is refused, and one just below it is read", async () => {
      const padded = (size: number) => {
        const text = JSON.stringify({ url: 1 });
        return text + " ".repeat(size - text.length);
      };
      await harmlessly(async () => {
        expectProblem(await postJson(padded(1_048_577)), 413, "body_too_large");
        expectField(await postJson(padded(1_048_576)), "url", "wrong_type");
      });
    });

    test("a bad page is refused by the parameter's name", async () => {
      await harmlessly(async () => {
        for (const [search, field] of [
          ["limit=0", "limit"],
          ["limit=101", "limit"],
          ["limit=-1", "limit"],
          ["limit=1.5", "limit"],
          ["limit=ten", "limit"],
          ["limit=", "limit"],
          ["limit=1e999", "limit"],
          ["limit=5&limit=6", "limit"],
          ["cursor=nope", "cursor"],
          ["cursor=", "cursor"],
          ["cursor=%00", "cursor"],
          [`cursor=${long(65)}`, "cursor"],
          [`cursor=${link.id.toUpperCase()}`, "cursor"],
          [`cursor=${link.id}'--`, "cursor"],
          ["page=2", "page"],
        ] as const) {
          const reply = await site.call("GET", `/api/links?${search}`);
          expect({ search, status: reply.status }).toEqual({ search, status: 422 });
          expect(expectProblem(reply, 422, "invalid_input").errors?.[0]?.field).toBe(field);
        }
      });
    });

    test("an If-Match that is not a version is refused, and one that never existed conflicts", async () => {
      await harmlessly(async () => {
        for (const value of ["abc", '"1", "2"', '"', '"-1"', "1.0", '"9999999999999999"', "null"]) {
          for (const method of ["PATCH", "PUT", "DELETE"]) {
            const reply = await site.call(method, `/api/links/${link.id}`, {
              headers: { "if-match": value },
              ...(method === "DELETE" ? {} : { body: { url: "https://example.com/never" } }),
            });
            expectField(reply, "If-Match", "bad_version");
          }
        }
        const reply = await site.call("DELETE", `/api/links/${link.id}`, { headers: { "if-match": '"999"' } });
        expectProblem(reply, 412, "version_conflict");
      });
    });

    test("an ID with odd characters is not found", async () => {
      const odd = [
        ...["x", "%00", "%ff", "%E0%A4%A", "%", "..%2f..%2fetc%2fpasswd", "%F0%9F%9A%80", "'%3B drop table links%3B--"],
        ...[
          long(8_000),
          link.id.toUpperCase(),
          `${link.id}%0a`,
          `${link.id}%00`,
          `%20${link.id}`,
          link.id.slice(0, -1),
        ],
        ...["lnk_", `key_${link.id.slice(4)}`, "__proto__", "constructor", "null", "*", link.code],
      ];
      await harmlessly(async () => {
        for (const id of odd) {
          for (const method of ["GET", "PATCH", "PUT", "DELETE"]) {
            const body = method === "PATCH" || method === "PUT" ? { body: { url: https } } : {};
            const reply = await site.call(method, `/api/links/${id}`, body);
            expect({ method, id, status: reply.status }).toEqual({ method, id, status: 404 });
            expectProblem(reply, 404, "not_found");
          }
          expectProblem(await site.call("DELETE", `/api/keys/${id}`), 404, "not_found");
        }
      });
    });

    test("an unknown API path, or an unsupported method, says so", async () => {
      await harmlessly(async () => {
        for (const path of [
          "/api",
          "/api/",
          "/api/nothing",
          "/api/links/",
          "/api//links",
          "/api/links/a/b",
          "/API/links",
        ]) {
          const reply = await site.call("GET", path, { headers: { accept: "application/json" } });
          expectProblem(reply, 404, "not_found");
        }
        const reply = await site.call("DELETE", "/api/links");
        expectProblem(reply, 405, "method_not_allowed");
        expect(reply.headers.get("allow")?.split(", ").sort()).toEqual(["GET", "POST"]);
      });
    });

    test("a new key with a bad field is not made", async () => {
      const good = { name: "key", scopes: ["links:read"] };
      await harmlessly(async () => {
        for (const [field, value, code] of [
          ["name", 1, "wrong_type"],
          ["name", "", "blank"],
          ["name", long(101), "too_long"],
          ["name", "a\nb", "control_characters"],
          ["name", "\ud800", "bad_unicode"],
          ["scopes", "admin", "wrong_type"],
          ["scopes", [], "too_few"],
          ["scopes.0", ["root"], "not_accepted"],
          ["scopes.0", [1], "not_accepted"],
          ["scopes", new Array(50).fill("admin"), "too_many"],
          ["expiresAt", "2000-01-01T00:00:00Z", "in_the_past"],
          ["expiresAt", "soon", "bad_format"],
          ["expiresAt", 5, "wrong_type"],
          ["tenantId", "x", "unknown_field"],
          ["secret", "x", "unknown_field"],
        ] as const) {
          const reply = await site.call("POST", "/api/keys", {
            body: { ...good, [field.replace(/\.\d+$/, "")]: value },
          });
          expectField(reply, field, code);
        }
      });
    });

    describe("byte by byte", () => {
      const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
      // A busy machine may let the 100 ms pass that PostgreSQL has to answer.
      const answerTo = (bytes: string) =>
        until("an answer", async () => {
          const answer = await raw(site.server.port, Buffer.from(bytes, "latin1"));
          return answer.startsWith("HTTP/1.1 503 ") ? undefined : answer;
        });
      const location = (answer: string) => /\r\nlocation: ([^\r\n]*)\r\n/i.exec(answer)?.[1];
      // What raw() gives is Latin-1: one character for each byte.
      const isAscii = (text: string) => /^[\x20-\x7e]*$/.test(text);

      test("a Location is plain ASCII, whatever was given", async () => {
        for (const given of [
          "https://münchen.example/straße?q=ü#größe",
          "https://例え.テスト/パス?クエリ=値#断片",
          "https://☃.example/🚀?🚀#🚀",
          "https://example.com/a b\"<>`{}|\\^'",
          "https://example.com/%c3%bc/%zz",
          "https://example.com/\u2028\u2029\u200f\ufeff",
          "https://example.com/lone\ud800surrogate",
          "\u3000https://example.com/spaces around\u2003",
          "https://EXAMPLE.com:443/../a/./b",
          "http://0x7f.1/",
          "http://[2001:DB8::1]:8080/",
          "https:example.com",
        ]) {
          const made = await site.create({ url: given, permanent: true, fallbackUrl: given });
          const wanted = new URL(given.trim()).href;
          const answer = await answerTo(get(`/${made.code}`));
          const head = answer.slice(0, answer.indexOf("\r\n\r\n"));
          expect(head).toStartWith("HTTP/1.1 301 ");
          expect({ given, location: location(answer) }).toEqual({ given, location: wanted });
          expect(head.split("\r\n").every(isAscii)).toBe(true);
        }
      });

      test("any text is refused as a destination or leads where the URL standard says, in ASCII", async () => {
        const scheme = fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom("https://", "http://", "HTTPS://", "https:", "https:\\\\") },
          { weight: 1, arbitrary: fc.constantFrom("javascript:", "data:", "ftp://", "", "//") },
        );
        const text = fc.string({ unit: "binary", maxLength: 12 });
        const host = fc.oneof(
          { weight: 3, arbitrary: fc.domain() },
          { weight: 1, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }) },
          {
            weight: 1,
            arbitrary: fc.oneof(
              fc.ipV4(),
              fc.ipV4Extended(),
              fc.ipV6().map((ip) => `[${ip}]`),
            ),
          },
        );
        const part = fc.oneof(text, fc.string({ unit: "grapheme", maxLength: 12 }), fc.webPath());
        const pieced = fc
          .tuple(scheme, host, fc.constantFrom("", ":443", ":8080"), part, part, part)
          .map(([start, name, port, path, search, hash]) => `${start}${name}${port}/${path}?${search}#${hash}`);
        const anything = fc.oneof(
          { weight: 4, arbitrary: pieced },
          { weight: 2, arbitrary: fc.webUrl({ withQueryParameters: true, withFragments: true }) },
          { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
        );
        let led = 0;
        await fc.assert(
          fc.asyncProperty(anything, async (given) => {
            const reply = await post({ body: { url: given } });
            if (reply.status !== 201) {
              expect(expectProblem(reply, 422, "invalid_input").errors?.[0]?.field).toBe("url");
              return;
            }
            const answer = await answerTo(get(`/${reply.json<LinkBody>().code}`));
            expect(answer).toStartWith("HTTP/1.1 302 ");
            expect(location(answer)).toBe(new URL(given.trim()).href);
            expect(answer.split("\r\n").every(isAscii)).toBe(true);
            led++;
          }),
          { numRuns: 200 },
        );
        expect(led).toBeGreaterThan(20);
      });

      test("an odd short link is a link that does not exist", async () => {
        const found: string[] = [];
        const odd = [
          ...[
            "/%00",
            "/%ff%ff%ff",
            "/..%2f..%2fetc%2fpasswd",
            "/abc%0d%0aSet-Cookie:%20a=b",
            "/a.b.c",
            "/%",
            "/abc/def",
          ],
          ...[
            "/__proto__",
            "/constructor",
            `/${long(65)}`,
            `/${long(8_000)}`,
            "/%F0%9F%9A%80",
            "/ü\u00ff",
            "/ab",
            "/+",
          ],
          ...["/++", "//", "//evil.example/abc", "///", "/;", "/abc\\def", "http://evil.example/a.b.c", "/abc%2b"],
        ];
        await harmlessly(async () => {
          for (const path of odd) {
            const answer = await answerTo(get(path));
            found.push(`${show(path)} ${answer.slice(0, 12)}`);
            expect(location(answer)).toBeUndefined();
          }
        });
        expect(found).toEqual(odd.map((path) => `${show(path)} HTTP/1.1 404`));
      });

      test("what is not HTTP is turned away, and nothing of it is read as a request", async () => {
        const authorized = `Host: localhost\r\nAuthorization: Bearer ${site.server.key}\r\nContent-Type: application/json\r\n`;
        const body = JSON.stringify({ url: https });
        await harmlessly(async () => {
          for (const bytes of [
            "\r\n\r\nnonsense\r\n\r\n",
            "GET\r\n\r\n",
            "GET /healthz\r\n\r\n",
            "GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost localhost\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: localhost\r\nBad Name: x\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Null: a\u0000b\r\n\r\n",
            `POST /api/links HTTP/1.1\r\n${authorized}Content-Length: -1\r\n\r\n${body}`,
            `POST /api/links HTTP/1.1\r\n${authorized}Content-Length: ten\r\n\r\n${body}`,
            `POST /api/links HTTP/1.1\r\n${authorized}Content-Length: 5\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
            `POST /api/links HTTP/1.1\r\n${authorized}Content-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
            `POST /api/links HTTP/1.1\r\n${authorized}Transfer-Encoding: chunked\r\n\r\nnot-hex\r\n${body}\r\n0\r\n\r\n`,
            "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
          ]) {
            const answer = await raw(site.server.port, Buffer.from(bytes, "latin1"));
            expect({ bytes, answer }).toEqual({ bytes, answer: expect.stringMatching(/^(HTTP\/1\.1 [45]\d\d |$)/) });
            expect(answer).not.toMatch(/^HTTP\/1\.1 500 /);
          }
        });
      });

      test("a request without a Host is refused", async () => {
        const answer = await harmlessly(() =>
          raw(site.server.port, "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"),
        );
        expect(answer).toStartWith("HTTP/1.1 400 ");
      });

      test("an odd Host does not change where a link leads, nor break the server", async () => {
        const made = await site.create({ url: https });
        const logged = site.server.output().length;
        const ask = async (host: string, path: string) => {
          const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
          const answer = await answerTo(request);
          return location(answer) ?? answer.slice("HTTP/1.1 ".length, 12);
        };
        const found: string[] = [];
        for (const host of ["evil.example", "a/b", "x?y", "user@host", "[::1", "ho st", "%00", "é", "", "a#b"]) {
          for (const path of [`/${made.code}`, "/healthz", "/api/links"]) {
            const answer = await ask(host, path);
            if (answer !== https && !/^(200|4..)$/.test(answer)) found.push(`${host}: ${path} ${answer}`);
          }
        }
        expect(found).toEqual([]);
        expect(site.server.output().slice(logged)).not.toContain('"level":"error"');
      });

      test("headers and addresses that are far too long are refused", async () => {
        await harmlessly(async () => {
          for (const bytes of [
            `GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Long: ${long(200_000)}\r\n\r\n`,
            `GET /${long(200_000)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
            `GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${"X-Many: y\r\n".repeat(20_000)}\r\n`,
          ]) {
            const answer = await raw(site.server.port, bytes);
            expect(answer).toMatch(/^(HTTP\/1\.1 4\d\d |$)/);
          }
        });
      });

      test("a client that hangs up in the middle of a body leaves nothing behind, not even an error in the log", async () => {
        const answered = async () => {
          const { text } = await site.visit("/metrics");
          const counts = text.matchAll(/^quicklink_api_request_seconds_count\{method="POST",[^}]*\} (\d+)$/gm);
          return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
        };
        const [logged, before] = [site.server.output().length, await answered()];
        await harmlessly(async () => {
          const line = await hangingRequest(site.server);
          line.send('{"url":"https://exa');
          line.hangUp();
          await until("the server to notice", async () => (await answered()) > before || undefined);
        });
        // Any client can do this as often as it likes: it is not an error of ours.
        expect(site.server.output().slice(logged)).not.toContain('"level":"error"');
      });
    });
  });
}
