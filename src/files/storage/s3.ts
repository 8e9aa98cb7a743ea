import { createHash } from "node:crypto";
import { fromIso } from "../../base/clock.ts";
import { attachment, servedType } from "../download/headers.ts";
import { createS3Client, type S3ClientSettings } from "./s3-client.ts";
import { parseObjectList } from "./s3-list.ts";
import { checkKey, NoObject, type Storage, StorageUnavailable, type StoredObject } from "./storage.ts";

/**
 * A bucket of an S3-compatible store, in path style. Clients send and fetch the bytes there by URLs that we sign: for
 * an upload with its length, type and, if announced, checksum, so that the store itself refuses anything else.
 */
const copyMs = 60_000;
const readThroughMs = 600_000;
const expiresMostSeconds = 604_800; // the maximum of S3
const pageMost = 1_000;
const listMostBytes = 4_000_000;

export function createS3(settings: S3ClientSettings): Storage {
  const { bucket, clock } = settings;
  const { call, presign } = createS3Client(settings);
  const bucketName = new URL(bucket.endpoint).pathname.slice(1);

  const secondsUntil = (until: number) =>
    Math.min(expiresMostSeconds, Math.max(1, Math.ceil((until - clock.now()) / 1_000)));

  async function stat(key: string): Promise<StoredObject | undefined> {
    const answer = await call({ method: "HEAD", key });
    if (answer.status === 404) return undefined;
    await expectStatus(answer, `check ${key}`, 200);
    return {
      key,
      sizeBytes: Number(answer.headers.get("content-length")),
      modifiedAt: fromIso(answer.headers.get("last-modified") ?? ""),
    };
  }

  async function remove(key: string): Promise<void> {
    const answer = await call({ method: "DELETE", key });
    await expectStatus(answer, `remove ${key}`, 200, 204, 404);
    await answer.body?.cancel();
  }

  /** False if there is nothing to copy. */
  async function copy(from: string, to: string): Promise<boolean> {
    const headers = { "x-amz-copy-source": `/${bucketName}/${checkKey(from)}` };
    const answer = await call({ method: "PUT", key: to, headers, deadlineMs: copyMs });
    if (answer.status === 404) {
      await answer.body?.cancel();
      return false;
    }
    await expectStatus(answer, `copy to ${to}`, 200);
    // The store may answer 200 while it still copies, and report an error only in the body.
    const text = (await readAtMost(answer, 10_000)).toString();
    if (!text.includes("<CopyObjectResult")) throw new StorageUnavailable(`file storage could not copy to ${to}`);
    return true;
  }

  return {
    stat,
    remove,
    async signUpload({ key, sizeBytes, type, sha256, until }) {
      const headers = {
        "content-type": type,
        ...(sha256 !== null && { "x-amz-checksum-sha256": Buffer.from(sha256, "hex").toString("base64") }),
      };
      const signed = { ...headers, "content-length": String(sizeBytes) };
      const url = await presign({ method: "PUT", key, headers: signed, seconds: secondsUntil(until) });
      return { method: "PUT", url, headers };
    },
    signDownload: ({ key, name, type, until }) =>
      presign({
        method: "GET",
        key,
        query: {
          "response-cache-control": "private, no-cache",
          "response-content-disposition": attachment(name),
          "response-content-type": servedType(type),
        },
        seconds: secondsUntil(until),
      }),
    async read(key, start, length) {
      if (length === 0) return new Uint8Array(); // an empty range cannot be expressed
      const headers = { range: `bytes=${start}-${start + length - 1}` };
      const answer = await call({ method: "GET", key, headers });
      if (answer.status === 416) {
        await answer.body?.cancel();
        return new Uint8Array();
      }
      await expectObject(answer, key, 200, 206);
      // A store without range support sends everything.
      const skip = answer.status === 200 ? start : 0;
      return (await readAtMost(answer, skip + length)).subarray(skip);
    },
    async sha256(key) {
      const asked = await call({ method: "HEAD", key, headers: { "x-amz-checksum-mode": "ENABLED" } });
      await expectObject(asked, key, 200);
      const known = Buffer.from(asked.headers.get("x-amz-checksum-sha256") ?? "", "base64");
      // For a multipart upload it is a hash of the parts' checksums, and ends with a dash and their number.
      if (known.length === 32 && !asked.headers.get("x-amz-checksum-sha256")?.includes("-"))
        return known.toString("hex");
      const answer = await call({ method: "GET", key, deadlineMs: readThroughMs });
      await expectObject(answer, key, 200);
      const hash = createHash("sha256");
      for await (const chunk of bodyOf(answer)) hash.update(chunk);
      return hash.digest("hex");
    },
    async move(from, to) {
      checkKey(from);
      if ((await stat(to)) === undefined && !(await copy(from, to)) && (await stat(to)) === undefined) {
        throw new NoObject(from);
      }
      await remove(from);
    },
    async list(prefix, after, limit) {
      const found: StoredObject[] = [];
      let from = after;
      do {
        const query = {
          "list-type": "2",
          "max-keys": String(Math.min(pageMost, limit - found.length)),
          prefix,
          ...(from !== undefined && { "start-after": from }),
        };
        const answer = await call({ method: "GET", query });
        await expectStatus(answer, "list", 200);
        const page = parseObjectList((await readAtMost(answer, listMostBytes)).toString());
        found.push(...page.objects);
        from = page.after;
      } while (from !== undefined && found.length < limit);
      return found;
    },
    async ping() {
      const answer = await call({ method: "HEAD" });
      await expectStatus(answer, "check the bucket", 200);
    },
  };
}

async function expectObject(answer: Response, key: string, ...statuses: number[]): Promise<void> {
  if (answer.status !== 404) return await expectStatus(answer, `read ${key}`, ...statuses);
  await answer.body?.cancel();
  throw new NoObject(key);
}

async function expectStatus(answer: Response, what: string, ...statuses: number[]): Promise<void> {
  if (statuses.includes(answer.status)) return;
  const text = (await readAtMost(answer, 10_000)).toString();
  const [, code = hints[answer.status] ?? "no reason given"] = /<Code>(\w{1,100})<\/Code>/.exec(text) ?? [];
  throw new StorageUnavailable(`file storage could not ${what}: HTTP ${answer.status}, ${code}`);
}

/** For responses without a body that explains them. */
const hints: Readonly<Record<number, string>> = {
  301: "the bucket is in another region",
  400: "the region may be wrong",
  403: "the key is invalid or lacks permission",
  404: "no such bucket",
};

async function readAtMost(answer: Response, bytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bodyOf(answer)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= bytes) break;
  }
  return Buffer.concat(chunks).subarray(0, bytes);
}

/** Leaving the loop early cancels the rest. */
async function* bodyOf(answer: Response): AsyncGenerator<Uint8Array> {
  if (answer.body === null) return;
  try {
    for await (const chunk of answer.body) yield chunk;
  } catch (error) {
    throw new StorageUnavailable(
      `file storage closed the connection: ${error instanceof Error ? error.message : error}`,
    );
  }
}
