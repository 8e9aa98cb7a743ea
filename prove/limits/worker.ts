/** Runs the seeds it is sent, one at a time, on its own database. */
import { ownCode } from "./code.ts";
import { openGround } from "./ground.ts";
import { runWorld } from "./world.ts";

declare const self: Worker;

const [code, sql] = await Promise.all([ownCode(), openGround()]);

self.onmessage = async ({ data: seed }: MessageEvent<number>) => {
  postMessage(await runWorld(seed, code, sql));
};
postMessage("ready");
