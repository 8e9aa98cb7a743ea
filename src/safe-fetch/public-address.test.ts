import { describe, expect, test } from "bun:test";
import { BlockList } from "node:net";
import { isListed, isPublic, plainAddress } from "./public-address.ts";

describe("addresses on the public internet", () => {
  test.each([
    ...["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255"],
    ...[
      "128.0.0.1",
      "169.253.255.255",
      "172.15.255.255",
      "172.32.0.0",
      "192.0.1.0",
      "192.167.255.255",
      "198.17.255.255",
    ],
    ...["198.20.0.0", "203.0.112.255", "203.0.114.0", "223.255.255.255", "2606:4700::1111", "2a00:1450:4001::200e"],
    ...["2001:200::1", "2001:4860:4860::8888", "3ffe::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"],
  ])("%s is", (address) => {
    expect(isPublic(address)).toBe(true);
  });
});

describe("addresses that are not", () => {
  test.each([
    ...["0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "127.0.0.1", "169.254.169.254"],
    ...["172.16.0.0", "192.0.0.255", "192.0.2.0", "192.168.255.255", "198.18.0.0", "224.0.0.0", "255.255.255.255"],
    ...[
      "::",
      "::1",
      "::2",
      "::127.0.0.1",
      "::ffff:10.1.2.3",
      "::ffff:0:8.8.8.8",
      "64:ff9b::192.168.0.1",
      "64:ff9b:1::1",
    ],
    ...["100::1", "1fff::1", "2001::1", "2001:1ff::1", "2001:db8:1::", "2002:808:808::", "3fff:fff::1", "4000::1"],
    ...["5f00::1", "fc00::", "fdff::1", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "ff02::1", "ffff::"],
    ...["", "localhost", "127.1", "0x7f000001", "8.8.8.8 ", "[::1]", "1.2.3.4.5"],
  ])("%p is not", (address) => {
    expect(isPublic(address)).toBe(false);
  });
});

describe("an operator's exceptions", () => {
  const list = new BlockList();
  list.addSubnet("10.1.0.0", 16, "ipv4");
  list.addSubnet("fd12::", 32, "ipv6");

  test.each(["10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "fd12:0:0:0:0:0:0:9"])("hold for %s", (address) => {
    expect(isListed(address, list)).toBe(true);
  });

  test.each(["10.2.0.1", "64:ff9b::10.1.2.3", "fd13::1", "fd12::1%lo", "10.1"])("do not hold for %s", (address) => {
    expect(isListed(address, list)).toBe(false);
  });
});

test("one address has one spelling", () => {
  expect(plainAddress("::FFFF:7F00:1")).toBe("127.0.0.1");
  expect(plainAddress("2001:DB8:0::1")).toBe(plainAddress("2001:db8::0:1"));
});
