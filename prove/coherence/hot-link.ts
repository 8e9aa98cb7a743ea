/** A link whose edits are watched: each version stands in its address, so that an answer tells which one it is. */
import { authorization } from "../../bench/subject.ts";
import type { Server } from "../../test/ground/server.ts";

export interface HotLink {
  readonly id: string;
  readonly code: string;
  /** The newest that was committed; it stands in the address, too. */
  version: number;
}

const requestMs = 10_000;

const addressOf = (code: string, version: number): string => `https://example.com/${code}/${version}`;

export function versionIn(address: string | null | undefined): number {
  const version = Number(address?.slice(address.lastIndexOf("/") + 1));
  if (!Number.isSafeInteger(version) || version < 1) throw new Error(`no version stands in ${address}`);
  return version;
}

export async function createLink(server: Server, code: string): Promise<HotLink> {
  const response = await fetch(`${server.url}/api/links`, {
    method: "POST",
    headers: authorization(server),
    body: JSON.stringify({ code, url: addressOf(code, 1) }),
  });
  const { id } = (await response.json()) as { id: string };
  if (response.status !== 201) throw new Error(`${code} could not be made: ${response.status}`);
  return { id, code, version: 1 };
}

export async function editOne(server: Server, link: HotLink): Promise<void> {
  const version = link.version + 1;
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
