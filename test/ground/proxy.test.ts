import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect, createServer, type Server } from "node:net";
import { freePort } from "./ports.ts";
import { until } from "./process.ts";
import { startProxy, type TcpProxy } from "./proxy.ts";

/** What one end of a connection has heard. */
interface Caller {
  readonly heard: string[];
  readonly ended: () => string | undefined;
  say(text: string): void;
  hangUp(): void;
}

describe("a proxy", () => {
  const port = freePort();
  const said: string[] = [];
  let echo: Server;
  let proxy: TcpProxy;

  beforeAll(async () => {
    echo = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        said.push(bytes.toString());
        socket.write(bytes);
      });
    });
    await new Promise<void>((resolve) => echo.listen(port, "127.0.0.1", resolve));
    proxy = await startProxy(port);
  });

  afterAll(() => {
    proxy.stop();
    echo.close();
  });

  beforeEach(() => {
    proxy.pass();
    said.length = 0;
  });

  async function call(at = proxy.port): Promise<Caller> {
    const socket = connect(at, "127.0.0.1");
    const heard: string[] = [];
    let ended: string | undefined;
    socket.on("data", (bytes) => heard.push(bytes.toString()));
    socket.on("end", () => {
      ended ??= "closed";
    });
    socket.on("error", (error) => {
      ended ??= "code" in error ? String(error.code) : error.message;
    });
    await new Promise((resolve) => socket.once("connect", resolve));
    return {
      heard,
      ended: () => ended,
      say: (text) => void socket.write(text),
      hangUp: () => void socket.destroy(),
    };
  }

  const hears = (caller: Caller, text: string) =>
    until(`"${text}"`, () => caller.heard.join("").includes(text) || undefined);
  const ends = (caller: Caller, how: string) =>
    until(`the connection to be ${how}`, () => caller.ended() === how || undefined);

  test("passes on both ways, and knows the same address by its own", async () => {
    expect(proxy.url(`redis://127.0.0.1:${port}/3`)).toBe(`redis://127.0.0.1:${proxy.port}/3`);
    const caller = await call();
    caller.say("hello");
    await hears(caller, "hello");
    caller.hangUp();
  });

  test("delays in one direction, in order, and then no longer", async () => {
    const caller = await call();
    caller.say("before");
    await hears(caller, "before");
    proxy.delay(300, "back");
    const started = performance.now();
    caller.say("one");
    await until("it to be there", () => said.includes("one") || undefined);
    expect(caller.heard.join("")).toBe("before");
    proxy.pass();
    caller.say("two");
    await hears(caller, "two");
    expect(performance.now() - started).toBeGreaterThan(290);
    expect(caller.heard.join("")).toBe("beforeonetwo");
    caller.hangUp();
  });

  test("drops without a word, and lets through who calls again", async () => {
    const caller = await call();
    caller.say("hello");
    await hears(caller, "hello");
    proxy.drop("back");
    caller.say("lost");
    await until("its answer to be lost", () => proxy.silent === 1 || undefined);
    proxy.pass();
    caller.say("also lost");
    const other = await call();
    other.say("found");
    await hears(other, "found");
    expect(caller.heard).toEqual(["hello"]);
    expect(caller.ended()).toBeUndefined();
    expect(said).not.toContain("also lost");
    for (const one of [caller, other]) one.hangUp();
  });

  test("cuts off in good order, and resets", async () => {
    const caller = await call();
    caller.say("hello");
    await hears(caller, "hello");
    proxy.cut();
    await ends(caller, "closed");
    const other = await call();
    other.say("hello");
    await hears(other, "hello");
    proxy.reset();
    await ends(other, "ECONNRESET");
  });

  test("resets who calls when there is nobody behind it", async () => {
    const nowhere = await startProxy(freePort());
    await ends(await call(nowhere.port), "ECONNRESET");
    nowhere.stop();
  });
});
