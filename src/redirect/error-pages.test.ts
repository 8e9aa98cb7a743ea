import { expect, test } from "bun:test";
import { escapeHtml } from "../base/escape-html.ts";
import { buttonPage, page } from "./error-pages.ts";

test("text from outside stays text, in an element and in an attribute of either quotes", () => {
  expect(escapeHtml(`<b> & "quoted" 'too'`)).toBe("&#60;b&#62; &#38; &#34;quoted&#34; &#39;too&#39;");
});

test("a page runs nothing, is kept by nobody, and posts nowhere unless it has a form of ours", () => {
  const plain = page(404, "Nothing <here>", "<p>No.</p>");
  expect(plain.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(plain.headers.get("content-security-policy")).toContain("form-action 'none'");
  expect(plain.headers.get("cache-control")).toBe("no-store");
  expect(buttonPage("Stop", "", "Stop").headers.get("content-security-policy")).toContain("form-action 'self'");
});

test("a title is escaped", async () => {
  expect(await page(404, "Nothing <here>", "").text()).toContain("<title>Nothing &#60;here&#62;</title>");
});
