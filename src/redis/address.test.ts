import { describe, expect, test } from "bun:test";
import { parseRedisUrl } from "./address.ts";

describe("an address of Redis", () => {
  test("names one server, the servers that sentinels watch, or a cluster", () => {
    expect(parseRedisUrl("redis://cache.internal")).toEqual({
      kind: "server",
      nodes: [{ host: "cache.internal", port: 6_379 }],
      tls: false,
      name: "",
      database: 0,
    });
    expect(parseRedisUrl("rediss://user:p%40ss@[::1]:7000/3")).toMatchObject({
      nodes: [{ host: "::1", port: 7_000 }],
      tls: true,
      username: "user",
      password: "p@ss",
      database: 3,
    });
    expect(parseRedisUrl("redis-sentinel://:secret@a,b:26380/mymaster")).toMatchObject({
      kind: "sentinel",
      nodes: [
        { host: "a", port: 26_379 },
        { host: "b", port: 26_380 },
      ],
      password: "secret",
      name: "mymaster",
    });
    expect(parseRedisUrl("rediss-cluster://a:7000,b:7001")).toMatchObject({ kind: "cluster", tls: true });
  });

  test.each([
    "http://a",
    "redis://",
    "redis://a,b",
    "redis://a:0",
    "redis://a:99999",
    "redis://a/x",
    "redis-sentinel://a",
    "redis-cluster://a/1",
    "redis://user:pa@ss@a",
    "redis://:100%@a",
  ])("%s is none", (text) => {
    expect(() => parseRedisUrl(text)).toThrow(/^(is|has|names|does)/);
  });
});
