import { expect, test } from "bun:test";
import type { Breaker, Breakers } from "../base/breaker.ts";
import { defineScript, type Redis } from "./client.ts";
import { withBreakers } from "./with-breakers.ts";

test("a guarded Redis fails at once while the breaker is open, but for pings, which ask how it is", async () => {
  const asked: string[] = [];
  const does = (what: string) => async () => void asked.push(what);
  const redis = {
    ownerOf: (key: string) => key,
    send: does("send"),
    script: does("script"),
    ping: does("ping"),
    generation: 7,
  } as unknown as Redis;
  const state = { open: false };
  const breaker: Breaker = {
    run: (work) => (state.open ? Promise.reject(new Error("open")) : work()),
    get open() {
      return state.open;
    },
  };
  const asks: string[] = [];
  const breakers: Breakers = {
    of(node) {
      asks.push(node);
      return breaker;
    },
  };
  const { send, script, ping } = withBreakers(redis, breakers);
  await send("key", ["GET", "key"]);
  await script(defineScript("return 1"), ["key"], []);
  state.open = true;
  await expect(send("key", ["GET", "key"])).rejects.toThrow("open");
  await expect(script(defineScript("return 1"), ["key"], [])).rejects.toThrow("open");
  await ping();
  expect(asked).toEqual(["send", "script", "ping"]);
  expect(new Set(asks)).toEqual(new Set(["key"])); // the node that has the key, by its name in this test
  expect(withBreakers(redis, breakers).generation).toBe(7);
});
