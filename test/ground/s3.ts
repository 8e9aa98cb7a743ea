/**
 * The smallest honest S3: one bucket in memory, and just the calls that we make, each only with a valid signature by an
 * independent check (sigv4.ts). It can be made to fail.
 */
import { createHash } from "node:crypto";
import { freePort } from "./ports.ts";
import { type Account, judge, paramsOf } from "./sigv4.ts";

export interface S3Server {
  readonly port: number;
  /** With the bucket, without credentials. */
  readonly endpoint: string;
  /** In the format of S3_URL. */
  readonly url: string;
  readonly account: Account;
  readonly objects: Map<string, S3Object>;
  /** Requests, as `GET key 206`. */
  readonly log: string[];
  /** The next requests get this status instead. */
  failNext(times: number, status: number): void;
  /** The next copy says 200 and that it failed. */
  failNextCopy(): void;
  stop(): Promise<void>;
}

export interface S3Object {
  readonly bytes: Uint8Array;
  readonly type: string;
  readonly modifiedAt: number;
  /** Kept if the client sent one, as AWS does. */
  readonly checksum: string | undefined;
}

export interface S3Options {
  readonly now?: () => number;
  /** Features that differ between stores: checksums and ranges. */
  readonly knowsChecksums?: boolean;
  readonly knowsRanges?: boolean;
}

const bucket = "quicklink";

export function startS3({ now = Date.now, knowsChecksums = true, knowsRanges = true }: S3Options = {}): S3Server {
  const account: Account = { keyId: "TESTKEYID", secret: "a secret/with+signs", region: "eu-central-1" };
  const objects = new Map<string, S3Object>();
  const log: string[] = [];
  let failing = { times: 0, status: 0 };
  let copyFails = false;
  const port = freePort();

  const server = Bun.serve({ hostname: "127.0.0.1", port, development: false, fetch: handle });

  async function handle(request: Request): Promise<Response> {
    const [path = "", query = ""] = request.url.slice(request.url.indexOf("/", 8)).split("?");
    const key = path.startsWith(`/${bucket}/`) ? path.slice(bucket.length + 2) : undefined;
    const response = await answer(request, path, query, key);
    log.push(`${request.method} ${key ?? "bucket"} ${response.status}`);
    return response;
  }

  async function answer(request: Request, path: string, query: string, key: string | undefined): Promise<Response> {
    if (failing.times > 0) {
      failing.times--;
      return failure(failing.status, "InternalError");
    }
    const headers = Object.fromEntries(request.headers);
    const judged = judge({ method: request.method, path, query, headers }, account, now());
    if ("code" in judged) return failure(judged.status, judged.code);
    const body = Buffer.from(await request.arrayBuffer());
    const sha256 = createHash("sha256").update(body);
    if (judged.payload !== "UNSIGNED-PAYLOAD" && judged.payload !== sha256.copy().digest("hex")) {
      return failure(400, "XAmzContentSHA256Mismatch");
    }
    const params = new Map(paramsOf(query));
    if (path === `/${bucket}`) {
      if (request.method === "HEAD") return new Response(null);
      return request.method === "GET" && params.get("list-type") === "2"
        ? list(params)
        : failure(405, "MethodNotAllowed");
    }
    if (key === undefined || key === "") return failure(404, "NoSuchBucket");
    switch (request.method) {
      case "GET":
      case "HEAD":
        return give(request, key, params);
      case "DELETE":
        objects.delete(key);
        return new Response(null, { status: 204 });
      case "PUT":
        return headers["x-amz-copy-source"] === undefined
          ? take(key, body, headers, sha256.digest("base64"))
          : copy(key, headers["x-amz-copy-source"]);
      default:
        return failure(405, "MethodNotAllowed");
    }
  }

  function take(key: string, bytes: Uint8Array, headers: Record<string, string>, sha256: string): Response {
    if (headers["content-length"] === undefined) return failure(411, "MissingContentLength");
    if (Number(headers["content-length"]) !== bytes.length) return failure(400, "IncompleteBody");
    const checksum = headers["x-amz-checksum-sha256"];
    if (knowsChecksums && checksum !== undefined && checksum !== sha256) return failure(400, "BadDigest");
    const type = headers["content-type"] ?? "binary/octet-stream";
    objects.set(key, { bytes, type, modifiedAt: now(), checksum: knowsChecksums ? checksum : undefined });
    return new Response(null, { headers: { etag: etagOf(bytes) } });
  }

  function copy(to: string, source: string): Response {
    const from = objects.get(decodeURIComponent(source).replace(`/${bucket}/`, ""));
    if (from === undefined) return failure(404, "NoSuchKey");
    if (copyFails) {
      copyFails = false;
      return xml(200, "<Error><Code>InternalError</Code></Error>");
    }
    objects.set(to, { ...from, modifiedAt: now() });
    return xml(200, `<CopyObjectResult><ETag>${etagOf(from.bytes)}</ETag></CopyObjectResult>`);
  }

  function give(request: Request, key: string, params: ReadonlyMap<string, string>): Response {
    const found = objects.get(key);
    if (found === undefined) return failure(404, "NoSuchKey");
    const { bytes, type, checksum } = found;
    const headers = new Headers({
      "accept-ranges": "bytes",
      "content-type": params.get("response-content-type") ?? type,
      "last-modified": new Date(found.modifiedAt).toUTCString(),
      etag: etagOf(bytes),
    });
    for (const name of ["content-disposition", "cache-control"]) {
      const value = params.get(`response-${name}`);
      if (value !== undefined) headers.set(name, value);
    }
    if (checksum !== undefined && request.headers.get("x-amz-checksum-mode") === "ENABLED") {
      headers.set("x-amz-checksum-sha256", checksum);
    }
    if (request.method === "HEAD") {
      headers.set("content-length", String(bytes.length));
      return new Response(null, { headers });
    }
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.get("range") ?? "") ?? [];
    if (first === undefined || !knowsRanges) return new Response(Buffer.from(bytes), { headers });
    const end = last ? Math.min(Number(last), bytes.length - 1) : bytes.length - 1;
    if (Number(first) >= bytes.length) return failure(416, "InvalidRange");
    headers.set("content-range", `bytes ${first}-${end}/${bytes.length}`);
    return new Response(Buffer.from(bytes.subarray(Number(first), end + 1)), { status: 206, headers });
  }

  function list(params: ReadonlyMap<string, string>): Response {
    const [prefix, after] = [params.get("prefix") ?? "", params.get("start-after") ?? ""];
    const most = Math.min(1_000, Number(params.get("max-keys") ?? 1_000));
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const contents = keys.slice(0, most).map((key) => {
      const { bytes, modifiedAt } = objects.get(key) ?? { bytes: new Uint8Array(), modifiedAt: 0 };
      return `<Contents><Key>${escapeXml(key)}</Key><LastModified>${new Date(modifiedAt).toISOString()}</LastModified><ETag>${escapeXml(etagOf(bytes))}</ETag><Size>${bytes.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`;
    });
    return xml(
      200,
      `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${bucket}</Name><Prefix>${escapeXml(prefix)}</Prefix><KeyCount>${contents.length}</KeyCount><MaxKeys>${most}</MaxKeys><IsTruncated>${keys.length > most}</IsTruncated>${contents.join("")}</ListBucketResult>`,
    );
  }

  const secret = encodeURIComponent(account.secret);
  return {
    port,
    endpoint: `http://127.0.0.1:${port}/${bucket}`,
    url: `http://${account.keyId}:${secret}@127.0.0.1:${port}/${bucket}?region=${account.region}`,
    account,
    objects,
    log,
    failNext(times, status) {
      failing = { times, status };
    },
    failNextCopy() {
      copyFails = true;
    },
    stop: () => server.stop(true),
  };
}

const etagOf = (bytes: Uint8Array): string => `"${createHash("md5").update(bytes).digest("hex")}"`;

const escapeXml = (text: string): string =>
  text.replace(/[&<>"]/g, (one) => `&${{ "&": "amp", "<": "lt", ">": "gt", '"': "quot" }[one]};`);

const xml = (status: number, body: string): Response =>
  new Response(`<?xml version="1.0" encoding="UTF-8"?>\n${body}`, {
    status,
    headers: { "content-type": "application/xml" },
  });

const failure = (status: number, code: string): Response => xml(status, `<Error><Code>${code}</Code></Error>`);
