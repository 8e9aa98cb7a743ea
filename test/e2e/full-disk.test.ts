/** A server whose folder for files is a disk of one megabyte of its own, gone with the server. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { startServer } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { fileAddresses, fileKeys } from "./file-addresses.ts";

// Only this process and its children see the mount; without root, as the root of a world of their own.
const unshare = process.getuid?.() === 0 ? ["unshare", "--mount"] : ["unshare", "--map-root-user", "--mount"];
const mount = 'mount -t tmpfs -o size=1m,mode=700 none "$1" && shift && exec "$@"';

test("a full disk is a clear error, leaves nothing behind, and is over when there is room again", async () => {
  const dataDir = tempFolder("data");
  const files = join(dataDir, "files");
  mkdirSync(files);
  const within = [...unshare, "sh", "-c", mount, "sh", files];
  const server = await startServer({ dataDir, within, env: { QL_SIGNING_KEYS: fileKeys } });
  const { upload, type } = fileAddresses();
  const send = async (key: string, sizeBytes: number) => {
    const headers = { "content-type": type };
    const reply = await fetch(server.url + upload(key, sizeBytes), {
      method: "PUT",
      body: "x".repeat(sizeBytes),
      headers,
    });
    return [reply.status, await reply.text()];
  };
  const left = () => readdirSync(`/proc/${server.pid}/root${files}`, { recursive: true }).toSorted();

  expect(await send("incoming/a", 600_000)).toEqual([201, ""]);
  expect(await send("incoming/b", 600_000)).toEqual([507, expect.stringContaining('"code":"storage_full"')]);
  expect(left()).toEqual([".temp", "incoming", "incoming/a"]);
  expect(await send("incoming/c", 300_000)).toEqual([201, ""]);
  expect(left()).toEqual([".temp", "incoming", "incoming/a", "incoming/c"]);

  // Its owner takes the upload back, and with it what it held.
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${server.key}`, "content-type": "application/json" };
    return await fetch(server.url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  };
  const standing = async () => {
    const usage = (await (await call("GET", "/api/usage")).json()) as { limits: { name: string }[] };
    return usage.limits.find(({ name }) => name === "storageBytes");
  };
  const announced = await call("POST", "/api/files", { name: "d.txt", size: 600_000, type });
  const { id, upload: address } = (await announced.json()) as { id: string; upload: { url: string } };
  expect(await standing()).toMatchObject({ used: 0, held: 600_000 });
  const sent = await fetch(server.url + new URL(address.url).pathname, {
    method: "PUT",
    body: "x".repeat(600_000),
    headers: { "content-type": type },
  });
  expect(sent.status).toBe(507);
  expect((await call("POST", `/api/files/${id}/complete`)).status).toBe(409);
  expect((await call("DELETE", `/api/files/${id}`)).status).toBe(204);
  expect(await standing()).toMatchObject({ used: 0, held: 0 });

  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain('quicklink_uploads_total{outcome="full"} 2\n');
  expect(metrics).toContain('quicklink_upload_bytes_total{fate="kept"} 900000\n');
  expect(server.output()).toContain("an upload could not be stored");
  expect(await server.stop()).toBe(0);
});
