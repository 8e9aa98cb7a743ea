import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { type Credentials, createS3Signer, withQuery } from "./s3-signer.ts";
import { checkKey, StorageUnavailable } from "./storage.ts";

/**
 * Signed calls to one bucket, each with a deadline. A call without an answer, or with a 5xx or 429, is retried after a
 * partly random pause: all our calls may be repeated. Retries are paid from an allowance that successful answers
 * refill, so that a failing store does not get three times the traffic.
 */
export interface Bucket extends Credentials {
  /** `https://s3.internal:9000/quicklink`, without a trailing slash. */
  readonly endpoint: string;
}

export interface S3Client {
  /** The response, unless all retries failed. Its body must be read or cancelled. */
  call(call: S3Call): Promise<Response>;
  /** A temporary URL that its holder can use with these headers. */
  presign(request: Presigned): Promise<string>;
}

export interface S3Call {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** Without it: the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Until the last byte of the response. */
  readonly deadlineMs?: number;
}

export interface Presigned {
  readonly method: "GET" | "PUT";
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly seconds: number;
}

export interface S3ClientSettings {
  readonly bucket: Bucket;
  readonly clock: Clock;
  readonly deadlineMs?: number;
  readonly pauseMs?: number;
}

const tries = 3;
const allowanceMost = 20;
const allowancePerAnswer = 0.1;
const emptyHash = createHash("sha256").digest("hex");

export function createS3Client(settings: S3ClientSettings): S3Client {
  const { bucket, clock, deadlineMs: usualMs = 10_000, pauseMs = 100 } = settings;
  const signer = createS3Signer(bucket, clock);
  let allowance = allowanceMost;

  const urlOf = (key: string | undefined) =>
    key === undefined ? bucket.endpoint : `${bucket.endpoint}/${checkKey(key)}`;

  async function once({ method, key, query = {}, headers, deadlineMs = usualMs }: S3Call): Promise<Response> {
    const url = urlOf(key);
    const signed = await signer.header({
      method,
      url,
      query,
      headers: { ...headers, "x-amz-content-sha256": emptyHash },
    });
    return await fetch(withQuery(url, query), {
      method,
      headers: signed,
      redirect: "manual",
      signal: AbortSignal.timeout(deadlineMs),
    });
  }

  async function call(asked: S3Call): Promise<Response> {
    urlOf(asked.key);
    for (let attempt = 1; ; attempt++) {
      const answer = await once(asked).catch((error: unknown) => messageOf(error));
      const failure =
        typeof answer === "string" ? answer : isPassing(answer.status) ? `HTTP ${answer.status}` : undefined;
      if (typeof answer !== "string" && failure === undefined) {
        allowance = Math.min(allowanceMost, allowance + allowancePerAnswer);
        return answer;
      }
      if (typeof answer !== "string") await answer.body?.cancel();
      if (attempt === tries || allowance < 1) {
        throw new StorageUnavailable(`file storage failed on ${asked.method} ${asked.key ?? "bucket"}: ${failure}`);
      }
      allowance--;
      await new Promise((resolve) => setTimeout(resolve, pauseMs * 2 ** attempt * Math.random()));
    }
  }

  return {
    call,
    presign: ({ key, seconds, ...request }) => signer.address({ ...request, url: urlOf(key) }, seconds),
  };
}

const isPassing = (status: number): boolean => status >= 500 || status === 429;
