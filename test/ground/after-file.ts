/**
 * Preloaded by the runner, whose processes run one test file after the other: ends what a file has started and left. Its hook
 * runs after those of the file.
 */
import { afterAll } from "bun:test";
import { clearAway } from "./keeper.ts";
import { forgetPorts } from "./ports.ts";

afterAll(async () => {
  await clearAway();
  forgetPorts();
});
