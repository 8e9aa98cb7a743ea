import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createProgress } from "./progress.ts";

function on(screen: { isTTY?: boolean; columns?: number }) {
  const clock = manualClock(0);
  let written = "";
  const write = (text: string) => {
    written += text;
  };
  const progress = createProgress({ ...screen, write }, clock.elapsed);
  const take = () => {
    const taken = written;
    written = "";
    return taken;
  };
  return { clock, progress, take };
}

test("on a terminal it is a bar of one line, which is cleared before other output", () => {
  const { clock, progress, take } = on({ isTTY: true, columns: 60 });
  clock.advance(1_000);
  progress.show(0.5, "10 links");
  expect(take()).toBe(`\r\u001b[K${"█".repeat(12)}${"░".repeat(12)}  50 %  10 links`);
  progress.show(0.6, "too soon to be drawn again");
  expect(take()).toBe("");
  progress.say("line 3: bad");
  expect(take()).toBe("\r\u001b[Kline 3: bad\n");
  clock.advance(1_000);
  progress.show(0.7, "x".repeat(100));
  expect(take().replace("\r\u001b[K", "")).toHaveLength(59);
  progress.end();
  expect(take()).toBe("\r\u001b[K");
});

test("elsewhere it is a plain line from time to time", () => {
  const { clock, progress, take } = on({});
  clock.advance(1_000);
  progress.show(0.1, "early");
  clock.advance(5_000);
  progress.show(undefined, "10 links");
  progress.end();
  expect(take()).toBe("10 links\n");
});

test("it does not say 100 % before all is done", () => {
  const { clock, progress, take } = on({});
  for (const share of [0.001, 0.999, 1]) {
    clock.advance(5_000);
    progress.show(share, "links");
  }
  expect(take()).toBe("0 %  links\n99 %  links\n100 %  links\n");
});

test("what a file says cannot move the cursor", () => {
  const { progress, take } = on({ isTTY: true });
  progress.say("column \u001b[2J\r\u0007x");
  expect(take()).toBe("column \\u001b[2J\\u000d\\u0007x\n");
});
