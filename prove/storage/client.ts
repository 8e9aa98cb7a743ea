/** A client of the files API that may ask any of several servers, and asks another one when it gets no answer. */
import type { Server } from "../../test/ground/server.ts";
import type { Owner } from "./site.ts";

export interface Upload {
  readonly id: string;
  readonly size: number;
  readonly upload: { readonly url: string; readonly headers: Record<string, string> };
}

/** `unknown`: cut off. A file may have been announced that will not be completed. */
export type Announced = Upload | "refused" | "unknown";
export type Completed = "stored" | "refused" | "late";

/** What the clients of one scenario met with. */
export interface Met {
  asked: number;
  /** Answers of 503: the counters did not answer in time. Retried each time. */
  unavailable: number;
  /** Requests that were cut off, or found no server. */
  interrupted: number;
}

export interface Client {
  announce(size: number, type?: string): Promise<Announced>;
  send(upload: Upload): Promise<void>;
  complete(upload: Upload): Promise<Completed>;
  remove(id: string): Promise<void>;
}

const triesMost = 100;
const pauseMs = 100;
const requestMs = 20_000;

export function createClient(owner: Owner, servers: readonly Server[], first: number, met: Met): Client {
  let at = first;

  /** `undefined` if it was cut off, `absent` if no server was there. */
  async function ask(method: string, path: string, body?: string, headers: Record<string, string> = {}) {
    const server = servers[at % servers.length];
    met.asked++;
    try {
      const signal = AbortSignal.timeout(requestMs);
      return await fetch(`${server?.url}${path}`, { method, headers, signal, ...(body !== undefined && { body }) });
    } catch (error) {
      const refused =
        error instanceof Error && "code" in error && /^(?:ECONNREFUSED|ConnectionRefused)$/.test(String(error.code));
      met.interrupted++;
      return refused ? "absent" : undefined;
    }
  }

  const callApi = (method: string, path: string, body?: unknown) =>
    ask(method, path, body === undefined ? undefined : JSON.stringify(body), {
      authorization: `Bearer ${owner.key}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    });

  /** Repeatable requests are sent until answered. */
  async function insist(call: () => Promise<Response | "absent" | undefined>): Promise<Response> {
    for (let tries = 0; tries < triesMost; tries++) {
      const response = await call();
      if (response instanceof Response) {
        // 409 with Retry-After: a server is still receiving the upload that was given up.
        if (response.status !== 503 && !response.headers.has("retry-after")) return response;
        if (response.status === 503) met.unavailable++;
      }
      at++;
      await Bun.sleep(pauseMs);
    }
    throw new Error("no server answers");
  }

  return {
    async announce(size, type = "text/plain") {
      for (let tries = 0; tries < triesMost; tries++) {
        const response = await callApi("POST", "/api/files", { name: "proof.txt", size, type });
        if (response === undefined) {
          at++;
          return "unknown";
        }
        if (response !== "absent") {
          if (response.status === 201) return { ...((await response.json()) as Upload), size };
          if (response.status === 413) return "refused";
          if (response.status !== 503) throw new Error(`announcing was answered with ${await response.text()}`);
          met.unavailable++;
        }
        at++;
        await Bun.sleep(pauseMs);
      }
      throw new Error("no server takes a file");
    },
    async send({ size, upload }) {
      const bytes = "x".repeat(size);
      const { pathname } = new URL(upload.url);
      const { status } = await insist(() => ask("PUT", pathname, bytes, upload.headers));
      // 409: it arrived the first time, and only the answer was lost.
      if (status !== 201 && status !== 409) throw new Error(`an upload was answered with ${status}`);
    },
    async complete({ id }) {
      const response = await insist(() => callApi("POST", `/api/files/${id}/complete`));
      if (response.status === 200) return "stored";
      if (response.status === 413) return "late";
      // 404: refused the first time, and only the answer was lost.
      if (response.status === 422 || response.status === 404) return "refused";
      throw new Error(`completing was answered with ${await response.text()}`);
    },
    async remove(id) {
      const { status } = await insist(() => callApi("DELETE", `/api/files/${id}`));
      if (status !== 204 && status !== 404) throw new Error(`deleting was answered with ${status}`);
    },
  };
}
