/** A link whose edits are watched: each version is in its destination, so that an answer shows which one it is. */
import { authorization } from "../../bench/subject.ts";
import type { Server } from "../../test/ground/server.ts";
import type { Watched } from "./visitors.ts";

export interface HotLink extends Watched {
  readonly id: string;
  /** The newest committed version. */
  version: number;
  /** The newest requested version: no answer can be newer. */
  begun: number;
}

const requestMs = 10_000;

const addressOf = (code: string, version: number): string => `https://example.com/${code}/${version}`;

export async function createLink(server: Server, code: string): Promise<HotLink> {
  const response = await fetch(`${server.url}/api/links`, {
    method: "POST",
    headers: authorization(server),
    body: JSON.stringify({ code, url: addressOf(code, 1) }),
  });
  const { id } = (await response.json()) as { id: string };
  if (response.status !== 201) throw new Error(`${code} could not be made: ${response.status}`);
  return {
    ...{ id, code, version: 1, begun: 1 },
    versionOf(this: HotLink, status, location = "") {
      const version = Number(location.slice(location.lastIndexOf("/") + 1));
      const right = status === 302 && location === addressOf(code, version);
      return right && Number.isSafeInteger(version) && version >= 1 && version <= this.begun ? version : undefined;
    },
  };
}

export async function editOne(server: Server, link: HotLink): Promise<void> {
  const version = link.version + 1;
  link.begun = version;
  const response = await fetch(`${server.url}/api/links/${link.id}`, {
    method: "PATCH",
    headers: authorization(server),
    body: JSON.stringify({ url: addressOf(link.code, version) }),
    signal: AbortSignal.timeout(requestMs),
  });
  const body = (await response.json()) as { version: number };
  if (response.status !== 200 || body.version !== version) {
    throw new Error(`version ${version} of ${link.code} was answered with ${response.status} ${JSON.stringify(body)}`);
  }
  link.version = version;
}
