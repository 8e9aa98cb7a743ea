import type { Mistakes } from "../mistake.ts";

const fetch = ["test/safe-fetch/safe-fetch.test.ts"];
const address = ["src/safe-fetch/public-address.test.ts"];

export const safeFetch: Mistakes = {
  "one-public-address-is-enough": {
    file: "safe-fetch/safe-fetch.ts",
    from: "if (!addresses.every((address) =>",
    to: "if (!addresses.some((address) =>",
    tests: fetch,
  },
  "redirects-without-end": {
    file: "safe-fetch/safe-fetch.ts",
    from: "redirects <= redirectsMost; redirects++",
    to: "redirects <= redirectsMost * 100; redirects++",
    tests: fetch,
  },
  "any-port": {
    file: "safe-fetch/safe-fetch.ts",
    from: 'if (!ports.includes(port)) return refused("port");',
    to: "",
    tests: fetch,
  },
  "no-deadline": {
    file: "safe-fetch/safe-fetch.ts",
    from: "const timer = setTimeout(end, deadlineMs);",
    to: "const timer = setTimeout(end, deadlineMs * 1_000);",
    tests: fetch,
  },
  "name-resolved-again": {
    file: "safe-fetch/pinned-request.ts",
    from: "    lookup: only(address),\n",
    to: "",
    tests: fetch,
  },
  "carrier-network-is-public": {
    file: "safe-fetch/public-address.ts",
    from: '  "100.64.0.0/10", // carrier-grade NAT\n',
    to: "",
    tests: address,
  },
  "private-address-behind-nat64": {
    file: "safe-fetch/public-address.ts",
    from: "if (isNat64) return isPublic(inner4(groups));",
    to: "if (isNat64) return true;",
    tests: address,
  },
  "mapped-address-is-ipv6": {
    file: "safe-fetch/public-address.ts",
    from: 'return isMapped ? inner4(groups) : groups.map((group) => group.toString(16)).join(":");',
    to: 'return groups.map((group) => group.toString(16)).join(":");',
    tests: address,
  },
  "whole-body-read": {
    file: "safe-fetch/pinned-request.ts",
    from: "if (size >= mostBytes) break;",
    to: "",
    tests: fetch,
  },
};
