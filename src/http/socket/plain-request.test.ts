import { describe, expect, test } from "bun:test";
import { readPlainRequest } from "./plain-request.ts";

const peer = { address: "203.0.113.7" };
const read = (text: string) => readPlainRequest(Buffer.from(text, "latin1"), peer);
const request = (...lines: string[]) => [...lines, "", ""].join("\r\n");
const withHeaders = (...headers: string[]) => request("GET /abc HTTP/1.1", "Host: a.example", ...headers);

describe("a plain request", () => {
  test("has its code, its URL and its headers, in any case", () => {
    const plain = read(
      request(
        "GET /aB-_9?utm_source=x&u=http://b.example/ HTTP/1.1",
        "HOST: a.example",
        "user-agent:  Mozilla/5.0 (X) \t",
        "X-Country:DE",
      ),
    );
    expect(plain?.code).toBe("aB-_9");
    expect(plain?.url).toBe("/aB-_9?utm_source=x&u=http://b.example/");
    expect(plain?.get("host")).toBe("a.example");
    expect(plain?.get("user-agent")).toBe("Mozilla/5.0 (X)");
    expect(plain?.get("User-Agent")).toBe("Mozilla/5.0 (X)");
    expect(plain?.get("x-country")).toBe("DE");
    expect(plain?.get("X-COUNTRY")).toBe("DE");
    expect(plain?.get("cookie")).toBeNull();
    expect(plain?.has("accept")).toBe(false);
    expect(plain?.peer.address).toBe("203.0.113.7");
  });

  test("has a header that redirects do not read as often as it was sent", () => {
    expect(read(withHeaders("Accept: a", "Via: 1.1 b", "accept: c"))?.get("accept")).toBe("a, c");
  });

  test("has an empty value", () => {
    expect(read(withHeaders("Referer:", "Cookie: "))?.get("referer")).toBe("");
  });

  test.each([
    [withHeaders(), true],
    [withHeaders("Connection: keep-alive"), true],
    [withHeaders("Connection: Keep-Alive"), true],
    [withHeaders("Connection: close"), false],
    [withHeaders("Connection: Close"), false],
    [request("GET /abc HTTP/1.0", "Host: a.example"), false],
    [request("GET /abc HTTP/1.0", "Host: a.example", "Connection: keep-alive"), false],
  ])("%j leaves the connection open: %p", (text, keepsOpen) => {
    expect(read(text)?.keepsOpen).toBe(keepsOpen);
  });

  test("ends where it ends, whatever is behind it", () => {
    const first = withHeaders("Accept: a");
    for (const more of ["x", withHeaders("Accept: b"), "x".repeat(100_000)]) {
      const plain = read(first + more);
      expect(plain?.bytes.toString("latin1")).toBe(first);
      expect(plain?.get("accept")).toBe("a");
    }
  });

  test("has a code of 64 characters, and 8 KB, at most", () => {
    const coded = (length: number) => request(`GET /${"a".repeat(length)} HTTP/1.1`, "Host: a.example");
    expect(read(coded(64))).toBeDefined();
    expect(read(coded(65))).toBeUndefined();
    const padded = (length: number) => withHeaders(`X: ${"a".repeat(length - withHeaders("X: ").length)}`);
    expect(padded(8_192).length).toBe(8_192);
    expect(read(padded(8_192))).toBeDefined();
    expect(read(padded(8_193))).toBeUndefined();
    expect(read(withHeaders(...Array.from({ length: 2_000 }, () => "X-Y: z")))).toBeUndefined();
  });
});

describe("left to Bun's server", () => {
  test.each([
    ["", "nothing"],
    ["GET", "a part of a request"],
    [withHeaders().slice(0, -2), "headers without an end"],
    [withHeaders().slice(0, -1), "half of an end of line"],
    [`\r\n${withHeaders()}`, "an empty line before"],
    [request("HEAD /abc HTTP/1.1", "Host: a"), "another method"],
    [request("POST /abc HTTP/1.1", "Host: a"), "another method"],
    [request("get /abc HTTP/1.1", "Host: a"), "a method in small letters"],
    [request("GET  /abc HTTP/1.1", "Host: a"), "two spaces"],
    [request("GET\t/abc HTTP/1.1", "Host: a"), "a tab"],
    [request("GET /abc  HTTP/1.1", "Host: a"), "two spaces"],
    [request("GET / HTTP/1.1", "Host: a"), "no code"],
    [request("GET /?a HTTP/1.1", "Host: a"), "no code"],
    [request("GET /abc/d HTTP/1.1", "Host: a"), "a longer path"],
    [request("GET /abc+ HTTP/1.1", "Host: a"), "a preview"],
    [request("GET /a%62c HTTP/1.1", "Host: a"), "an escaped code"],
    [request("GET /abc#d HTTP/1.1", "Host: a"), "a fragment"],
    [request("GET /abc?\u00e9 HTTP/1.1", "Host: a"), "a query that is not ASCII"],
    [request("GET /abc?a\tb HTTP/1.1", "Host: a"), "a tab in the query"],
    [request("GET http://a/abc HTTP/1.1", "Host: a"), "an absolute URL"],
    [request("GET /abc HTTP/1.2", "Host: a"), "another version"],
    [request("GET /abc HTTP/2.0", "Host: a"), "another version"],
    [request("GET /abc HTTP/1.11", "Host: a"), "another version"],
    [request("GET /abc http/1.1", "Host: a"), "a version in small letters"],
    [request("GET /abc HTTP/1.1"), "no host"],
    [request("GET /abc HTTP/1.1", "Host: a", "host: b"), "two hosts"],
    [withHeaders("User-Agent: a", "user-agent: b"), "a header twice"],
    [withHeaders("Cookie: a=b", "Cookie: c=d"), "a header twice"],
    [withHeaders("X-Forwarded-For: 1.2.3.4", "X-Forwarded-For: 5.6.7.8"), "a header twice"],
    [withHeaders("Content-Length: 0"), "a length"],
    [withHeaders("content-LENGTH:5"), "a length"],
    [withHeaders("Transfer-Encoding: chunked"), "an encoding"],
    [withHeaders("Transfer-Encoding:"), "an encoding"],
    [withHeaders("Content-Length : 5"), "a space before the colon"],
    [withHeaders("Content-Length\t: 5"), "a tab before the colon"],
    [withHeaders("Transfer-Encoding\v: chunked"), "a control character in a name"],
    [withHeaders(": x"), "no name"],
    [withHeaders("X"), "no colon"],
    [withHeaders("X y: z"), "a space in a name"],
    [withHeaders(" folded: x"), "a folded line"],
    [withHeaders("X: a", "\tb: c"), "a folded line"],
    [withHeaders("X: a\nContent-Length: 5"), "a line feed alone"],
    [withHeaders("X: a\rContent-Length: 5"), "a carriage return alone"],
    [withHeaders("X: a\0"), "a zero byte"],
    [withHeaders("X: a\u007f"), "a control character"],
    [withHeaders("X: \u00e9"), "a header that is not ASCII"],
    [withHeaders("Expect: 100-continue"), "an expectation"],
    [withHeaders("Upgrade: websocket", "Connection: Upgrade"), "an upgrade"],
    [withHeaders("Connection: Upgrade"), "another use of the connection"],
    [withHeaders("Connection: keep-alive, close"), "two uses of the connection"],
    [withHeaders("Connection:"), "no use of the connection"],
    [withHeaders("Trailer: X"), "a trailer"],
    [withHeaders().replaceAll("\r\n", "\n"), "lines without carriage returns"],
    [`GET /abc\r\n\r\n`, "HTTP 0.9"],
  ])("%j: %s", (text) => {
    expect(read(text)).toBeUndefined();
  });
});
