/** Files, announced on a server whose only tenant is the one of its first start. */
import type { Server } from "../ground/server.ts";
import type { UploadBody } from "./servers.ts";

export const type = "text/plain";

export async function callApi(server: Server, method: string, path: string, body?: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${server.key}`, "content-type": "application/json" };
  return await fetch(server.url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
}

export interface Announced {
  readonly id: string;
  /** Where the bytes go. */
  readonly url: string;
  readonly path: string;
  send(body: string | Buffer): Promise<Response>;
  complete(): Promise<Response>;
  remove(): Promise<Response>;
  /** Where anyone gets them, once it is complete. */
  downloadUrl(): Promise<string>;
}

export async function announce(server: Server, size: number): Promise<Announced> {
  const reply = await callApi(server, "POST", "/api/files", { name: "a.txt", size, type });
  if (reply.status !== 201) throw new Error(`a file could not be announced: ${await reply.text()}`);
  const { id, upload } = (await reply.json()) as UploadBody;
  const { pathname: path } = new URL(upload.url);
  const url = server.url + path;
  return {
    id,
    url,
    path,
    send: (body) => fetch(url, { method: "PUT", body, headers: { "content-type": type } }),
    complete: () => callApi(server, "POST", `/api/files/${id}/complete`),
    remove: () => callApi(server, "DELETE", `/api/files/${id}`),
    async downloadUrl() {
      const { url: given } = (await (await callApi(server, "GET", `/api/files/${id}/download`)).json()) as {
        url: string;
      };
      return server.url + new URL(given).pathname;
    },
  };
}
