import { describe, expect, test } from "bun:test";
import { titleMost, titleOf } from "./title.ts";

const html = "text/html; charset=utf-8";
const of = (text: string, type = html) => titleOf(Buffer.from(text), type);

describe("the title of a page", () => {
  test.each([
    ["<title>Plain</title>", "Plain"],
    ["<TITLE lang=en>\n  In  several\n\tlines </TITLE>", "In several lines"],
    [
      "<title>a &amp; b &lt;c&gt; &#8212; &#x1F600; &nbsp;&eacute;&Uuml;&unknown;</title>",
      "a & b <c> — 😀 éÜ&unknown;",
    ],
    ['<title>Title</title><meta property="og:title" content="Open graph">', "Open graph"],
    ["<meta content='It&#39;s > all' name=og:title>", "It's > all"],
    ['<meta property="og:title" content=" "><title>Kept</title>', "Kept"],
    ["<!-- <title>not me</title> --><title>me</title>", "me"],
    ["<script>document.write('<title>not me</title>')</script><title>me</title>", "me"],
    ["<title>one</title><body><svg><title>two</title></svg>", "one"],
    ["<title>cut off", "cut off"],
    ["<title>a\u202eb\u0000c\u200bd</title>", "ab cd"],
    [`<title>${"x".repeat(300)}</title>`, `${"x".repeat(titleMost - 1)}…`],
    [`<title>${"x".repeat(titleMost - 2)}😀😀</title>`, `${"x".repeat(titleMost - 2)}…`],
    ["<title>&#0;&#xd800;&#1114112;</title>", "\ufffd\ufffd\ufffd"],
  ])("%s", (page, title) => {
    expect(of(page)).toBe(title);
  });

  test.each([
    "",
    "<title></title>",
    "<title> &nbsp; </title>",
    "<p>no title",
    "<body><title>late</title>",
    "<!-- <title>x</title>",
  ])("is none in %p", (page) => {
    expect(of(page)).toBeUndefined();
  });

  test("is missing in what is not a page", () => {
    expect(of("<title>x</title>", "application/pdf")).toBeUndefined();
    expect(of("<title>x</title>", "text/htmlx")).toBeUndefined();
    expect(of("<title>x</title>", "")).toBeUndefined();
  });

  test("is decoded in the charset that the server, the page or its first bytes declare", () => {
    const latin = Buffer.from("<title>caf\xe9</title>", "latin1");
    expect(titleOf(latin, "text/html; charset=ISO-8859-1")).toBe("café");
    expect(titleOf(Buffer.concat([Buffer.from('<meta charset="windows-1252">'), latin]), "text/html")).toBe("café");
    expect(titleOf(Buffer.from("\ufeff<title>é</title>", "utf16le"), "text/html")).toBe("é");
    expect(
      titleOf(Buffer.from([0x3c, 0x74, 0x69, 0x74, 0x6c, 0x65, 0x3e, 0x93, 0xfa]), "text/html;charset=Shift_JIS"),
    ).toBe("日");
    expect(titleOf(Buffer.from("<title>é</title>"), "text/html; charset=klingon")).toBe("é");
    expect(titleOf(latin, html)).toBe("caf\ufffd");
  });

  test("is looked for in one pass, whatever the page is made of: going over it again and again takes longer than a test may", () => {
    const size = 262_144;
    for (const piece of [
      "<",
      "<a",
      "<a '",
      "<!--",
      "<script>",
      "<meta name=",
      '<meta content="',
      "&",
      "&#x",
      "< a=\"'",
    ]) {
      expect({ piece, title: of(piece.repeat(size / piece.length)) }).toEqual({ piece, title: undefined });
    }
  });
});
