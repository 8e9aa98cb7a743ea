import { describe, expect, test } from "bun:test";
import { checkLogo } from "./logo.ts";

const png = (side = 1) => {
  const bytes = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    "base64",
  );
  bytes.writeUInt32BE(side, 16);
  return bytes;
};
const svg = (inside: string, more = "") =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"${more}>${inside}</svg>`);

describe("a logo", () => {
  test("is recognised by its content", async () => {
    expect(await checkLogo(png())).toBe("image/png");
    expect(await checkLogo(svg("<title>Only one of us</title><text>on and on</text>"))).toBe("image/svg+xml");
    expect(await checkLogo(svg('<path d="M0 0h1" fill="url(#a)"/><use href="#b"/>'))).toBe("image/svg+xml");
    expect(await checkLogo(Buffer.from(`<?xml version="1.0"?>\n<!-- drawn -->\n${svg("<g/>")}`))).toBe("image/svg+xml");
  });

  test.each([
    ["a script", svg("<script>alert(1)</script>")],
    ["a script with a prefix", svg('<x:script xmlns:x="http://www.w3.org/2000/svg">1</x:script>')],
    ["a handler", svg('<g onload="alert(1)"/>')],
    ["a handler with many spaces", svg(`<g onload${" ".repeat(30)}="alert(1)"/>`)],
    ["an element that does not draw", svg("<discard/>")],
    ["a page around it", Buffer.from("<html><body><svg></svg></body></html>")],
    ["a handler of the root", svg("", ' onload="alert(1)"')],
    ["a handler after a slash", svg("<g/onclick=alert(1)>")],
    ["foreign content", svg("<foreignObject><p>x</p></foreignObject>")],
    ["a link", svg('<a href="#x"><g/></a>')],
    ["a picture from elsewhere", svg('<image href="https://example.com/a.png"/>')],
    ["a reference to elsewhere", svg('<use href="https://example.com/a.svg#b"/>')],
    ["a reference with spaces", svg('<use href = "https://example.com/a.svg#b"/>')],
    ["an old reference", svg('<use xlink:href="//example.com/a.svg#b"/>')],
    ["a fill from elsewhere", svg('<g fill="url(https://example.com/#a)"/>')],
    ["a style", svg("<style>@import 'https://example.com'</style>")],
    ["an animation", svg('<animate attributeName="href" values="javascript:alert(1)"/>')],
    ["an entity", Buffer.from(`<!DOCTYPE svg [<!ENTITY a "b">]>${svg("&a;")}`)],
    ["a page", Buffer.from("<!doctype html><html><body><svg></svg></body></html>")],
    ["text", Buffer.from("hello")],
    ["nothing", Buffer.alloc(0)],
    ["too many bytes", Buffer.concat([png(), Buffer.alloc(65_536)])],
    ["too many pixels", png(10_000)],
    ["a GIF", Buffer.from("R0lGODlhAQABAAAAACwAAAAAAQABAAA=", "base64")],
    ["bytes that are not text", Buffer.from([0x3c, 0x73, 0x76, 0x67, 0xff, 0xfe])],
  ])("is refused with %s", async (_, bytes) => {
    expect(checkLogo(bytes)).rejects.toMatchObject({ code: "invalid_input", more: { errors: [{ field: "logo" }] } });
  });
});
