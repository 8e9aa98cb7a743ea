import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { attachment, servedType } from "./headers.ts";

describe("the name under which a file is saved", () => {
  test.each([
    ["report.pdf", 'attachment; filename="report.pdf"'],
    ["a b;c=d,e.txt", 'attachment; filename="a b;c=d,e.txt"'],
    ['say "hi".txt', "attachment; filename=\"say _hi_.txt\"; filename*=UTF-8''say%20%22hi%22.txt"],
    ["50%.txt", "attachment; filename=\"50_.txt\"; filename*=UTF-8''50%25.txt"],
    ["naïve.txt", "attachment; filename=\"na_ve.txt\"; filename*=UTF-8''na%C3%AFve.txt"],
    ["it's (1)*.txt", 'attachment; filename="it\'s (1)*.txt"'],
    ["é's (1)*", "attachment; filename=\"_'s (1)*\"; filename*=UTF-8''%C3%A9%27s%20%281%29%2A"],
    ["a\r\nSet-Cookie: x", 'attachment; filename="a__Set-Cookie: x"'],
    ["../../etc/passwd", 'attachment; filename=".._.._etc_passwd"'],
    ["invoice\u202efdp.exe", 'attachment; filename="invoice_fdp.exe"'],
    ["half \ud83d.txt", "attachment; filename=\"half _.txt\"; filename*=UTF-8''half%20%EF%BF%BD.txt"],
  ])("%j becomes %s", (name, header) => expect(attachment(name)).toBe(header));

  test("of any text is one header of its form, in plain characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        expect(attachment(name)).toMatch(
          /^attachment; filename="[\x20\x21\x23-\x24\x26-\x5b\x5d-\x7e]*"(; filename\*=UTF-8''([A-Za-z0-9._~!-]|%[0-9A-F]{2})*)?$/,
        );
        expect(() => new Headers({ "content-disposition": attachment(name) })).not.toThrow();
      }),
    );
  });
});

describe("the type as which a file is served", () => {
  test.each([
    ["image/png", "image/png"],
    ["IMAGE/PNG; x=y", "image/png"],
    ["text/plain", "text/plain; charset=utf-8"],
    ["text/plain; charset=utf-7", "text/plain; charset=utf-8"],
    ...[
      ...[
        "text/html",
        "TEXT/HTML",
        "image/svg+xml",
        "application/xhtml+xml",
        "text/xml",
        "application/xml",
        "text/css",
      ],
      ...[
        "text/javascript",
        "application/javascript",
        "application/json",
        "multipart/mixed",
        "text/html;image/png",
        "",
      ],
    ].map((type) => [type, "application/octet-stream"] as const),
  ])("%j is %s", (declared, served) => expect(servedType(declared)).toBe(served));
});
