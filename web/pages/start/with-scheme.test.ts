import { expect, test } from "bun:test";
import { withScheme } from "./with-scheme.ts";

test("an address without a scheme gets https, and everything else is left to the API", () => {
  expect(withScheme(" example.com/menu ")).toBe("https://example.com/menu");
  expect(withScheme("example.com")).toBe("https://example.com");
  expect(withScheme("example.com:8080/a")).toBe("https://example.com:8080/a");
  expect(withScheme("EXAMPLE.com?x=1")).toBe("https://EXAMPLE.com?x=1");
  for (const same of [
    "",
    "http://a.example",
    "https://a.example/b",
    "mailto:ann@example.com",
    "tel:+49.30",
    "two words.x",
  ]) {
    expect(withScheme(same)).toBe(same);
  }
  expect(withScheme("javascript:alert(1.5)")).toBe("javascript:alert(1.5)");
  expect(withScheme("ann@example.com")).toBe("ann@example.com");
});
