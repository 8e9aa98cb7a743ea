/**
 * Reads a body within a size and time limit, whatever its headers claim. An incomplete body is a value, not an error.
 */
export type ReadBody =
  | { readonly kind: "whole"; readonly bytes: Uint8Array }
  | { readonly kind: "too_large" | "late" | "broken_off" };

export async function readBody(
  body: ReadableStream<Uint8Array>,
  limitBytes: number,
  deadlineMs: number,
): Promise<ReadBody> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    void reader.cancel();
  }, deadlineMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (late) return { kind: "late" };
      if (done) return { kind: "whole", bytes: Buffer.concat(chunks) };
      size += value.length;
      if (size > limitBytes) {
        void reader.cancel();
        return { kind: "too_large" };
      }
      chunks.push(value);
    }
  } catch {
    return { kind: "broken_off" };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The same for a body whose length was announced and is within the limit: the connection delivers no more than that. As a
 * stream it takes three times as long.
 */
export async function readAnnounced(request: Pick<Request, "bytes">, deadlineMs: number): Promise<ReadBody> {
  const { promise, resolve } = Promise.withResolvers<ReadBody>();
  const timer = setTimeout(() => resolve({ kind: "late" }), deadlineMs);
  request.bytes().then(
    (bytes) => resolve({ kind: "whole", bytes }),
    () => resolve({ kind: "broken_off" }),
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** Undefined if the client sends without saying how much, or sends nothing. */
export function announcedBytes({ method, headers }: Pick<Request, "method" | "headers">): number | undefined {
  const length = headers.get("content-length");
  if (length === null || !/^[1-9]\d*$/.test(length) || headers.has("transfer-encoding")) return undefined;
  return method === "GET" || method === "HEAD" ? undefined : Number(length);
}

/** The fields of a form as browsers send it; nothing if it is not a form or is incomplete. */
export async function readForm(
  request: Request,
  limitBytes: number,
  deadlineMs: number,
): Promise<URLSearchParams | undefined> {
  const type = request.headers.get("content-type") ?? "";
  if (request.body === null || !/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) return undefined;
  const read = await readBody(request.body, limitBytes, deadlineMs);
  return read.kind === "whole" ? new URLSearchParams(new TextDecoder().decode(read.bytes)) : undefined;
}
