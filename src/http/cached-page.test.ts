import { expect, test } from "bun:test";
import { cachedPage } from "./cached-page.ts";

const asked = (ifNoneMatch?: string) =>
  new Request("http://localhost/docs", ifNoneMatch === undefined ? {} : { headers: { "if-none-match": ifNoneMatch } });

test("is made once, on the first request, however many follow", async () => {
  let made = 0;
  const page = cachedPage({ "content-type": "text/plain" }, () => `made ${++made}`);
  expect(made).toBe(0);
  for (let i = 0; i < 3; i++) expect(await page(asked()).text()).toBe("made 1");
  expect(made).toBe(1);
});

test("a browser that has it gets 304 without a body, any other gets all of it", async () => {
  const page = cachedPage({ "content-type": "text/plain" }, () => "text");
  const etag = page(asked()).headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  for (const named of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const answer = page(asked(named));
    expect([answer.status, await answer.text(), answer.headers.get("etag")]).toEqual([304, "", etag]);
  }
  for (const other of ['"other"', "", etag.slice(1)]) expect(page(asked(other)).status).toBe(200);
  expect(cachedPage({}, () => "another text")(asked(etag)).status).toBe(200);
});
