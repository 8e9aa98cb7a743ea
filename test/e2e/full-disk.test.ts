/** A server whose folder for files is a separate disk of one megabyte, gone with the server. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { startServer } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { announce, callApi } from "./announced.ts";

// Only this process and its children see the mount; without root, in a user namespace.
const unshare = process.getuid?.() === 0 ? ["unshare", "--mount"] : ["unshare", "--map-root-user", "--mount"];
const mount = 'mount -t tmpfs -o size=1m,mode=700 none "$1" && shift && exec "$@"';

test("a full disk is a clear error, leaves nothing behind, and is over when there is room again", async () => {
  const dataDir = tempFolder("data");
  const files = join(dataDir, "files");
  mkdirSync(files);
  const within = [...unshare, "sh", "-c", mount, "sh", files];
  const server = await startServer({ dataDir, within });
  const send = async (sizeBytes: number) => {
    const announced = await announce(server, sizeBytes);
    const reply = await announced.send("x".repeat(sizeBytes));
    return { ...announced, answer: [reply.status, await reply.text()] };
  };
  const left = () => readdirSync(`/proc/${server.pid}/root${files}`, { recursive: true }).toSorted();

  const [first, second] = [await send(600_000), await send(600_000)];
  expect(first.answer).toEqual([201, ""]);
  expect(second.answer).toEqual([507, expect.stringContaining('"code":"storage_full"')]);
  expect(left()).toEqual([".temp", "incoming", `incoming/${first.id}`]);
  const third = await send(300_000);
  expect(third.answer).toEqual([201, ""]);
  expect(left()).toEqual([".temp", "incoming", `incoming/${first.id}`, `incoming/${third.id}`].toSorted());

  // Its owner takes the upload back, and with it what it held.
  const standing = async () => {
    const usage = (await (await callApi(server, "GET", "/api/usage")).json()) as { limits: { name: string }[] };
    return usage.limits.find(({ name }) => name === "storageBytes");
  };
  expect(await standing()).toMatchObject({ used: 0, held: 1_500_000 });
  const full = await announce(server, 600_000);
  expect(await standing()).toMatchObject({ used: 0, held: 2_100_000 });
  expect((await full.send("x".repeat(600_000))).status).toBe(507);
  expect((await full.complete()).status).toBe(409);
  expect((await full.remove()).status).toBe(204);
  expect(await standing()).toMatchObject({ used: 0, held: 1_500_000 });

  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain('quicklink_uploads_total{outcome="full"} 2\n');
  expect(metrics).toContain('quicklink_upload_bytes_total{fate="kept"} 900000\n');
  await server.waitForOutput(/upload could not be stored/);
  expect(await server.stop()).toBe(0);
});
