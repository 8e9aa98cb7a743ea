import { expect, test } from "bun:test";
import { networkOf } from "./network.ts";

test("an IPv4 address is its own network", () => {
  expect(networkOf("203.0.113.7")).toBe("203.0.113.7");
});

test("the network of an IPv6 address is its first 64 bits, in any notation", () => {
  for (const address of [
    "2001:db8:1:2::1",
    "2001:0db8:0001:0002:ffff:ffff:ffff:ffff",
    "2001:DB8:1:2:0:0:0:1",
    "2001:db8:1:2::192.0.2.1",
  ]) {
    expect(networkOf(address)).toBe("2001:db8:1:2::/64");
  }
  expect(networkOf("2001:db8:1:3::1")).toBe("2001:db8:1:3::/64");
  expect(networkOf("::1")).toBe("0:0:0:0::/64");
  expect(networkOf("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
});

test("IPv4 within IPv6 is IPv4", () => {
  expect(networkOf("::ffff:203.0.113.7")).toBe("203.0.113.7");
  expect(networkOf("::ffff:cb00:7107")).toBe("203.0.113.7");
  expect(networkOf("0:0:0:0:0:ffff:203.0.113.7")).toBe("203.0.113.7");
});

test("an invalid address has no network", () => {
  for (const text of ["", "localhost", "203.0.113", "203.0.113.7:80", "[::1]", "::1::", "unknown"]) {
    expect(networkOf(text)).toBeUndefined();
  }
});
