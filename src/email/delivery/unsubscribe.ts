import { parseId, type TenantId } from "../../base/ids.ts";
import type { Signer } from "../../base/signature.ts";
import { parseAddress } from "../address.ts";
import { isNoticeKind, type NoticeKind } from "../settings/notice-kinds.ts";

/**
 * Unsubscribe links. A link contains the tenant and the address, signed by us, so nothing has to be stored and only a
 * recipient of the email can unsubscribe the address.
 */
export interface StopLinks {
  /** `notice`: to stop only this kind of notice. */
  urlFor(tenant: TenantId, address: string, notice?: NoticeKind): string;
  /** `undefined` if it was not made here. */
  read(token: string): Recipient | undefined;
}

export interface Recipient {
  readonly tenant: TenantId;
  readonly address: string;
  /** What to stop; everything if there is none. */
  readonly notice?: NoticeKind;
}

export const stopPath = "/email/unsubscribe/";
const tokenMaxChars = 600; // the longest address has 254 bytes

export function createStopLinks(signer: Signer, baseUrl: string): StopLinks {
  return {
    urlFor(tenant, address, notice) {
      const about = notice === undefined ? tenant : `${tenant}/${notice}`;
      const payload = Buffer.from(`${about} ${address}`).toString("base64url");
      return `${baseUrl}${stopPath}${payload}.${signer.sign(payload)}`;
    },

    read(token) {
      if (token.length > tokenMaxChars) return undefined;
      const [, payload = "", signature = ""] = /^([\w-]+)\.([\w-]{43})$/.exec(token) ?? [];
      if (!signer.isSigned(payload, signature)) return undefined;
      const text = Buffer.from(payload, "base64url").toString("utf8");
      const space = text.indexOf(" ");
      const [id = "", notice] = text.slice(0, space).split("/");
      const [tenant, address] = [parseId("tenant", id), parseAddress(text.slice(space + 1))];
      if (tenant === undefined || address === undefined) return undefined;
      if (notice === undefined) return { tenant, address };
      return isNoticeKind(notice) ? { tenant, address, notice } : undefined;
    },
  };
}

/** RFC 8058: mail programs show a button that needs no visit. */
export function unsubscribeHeaders(url: string | null): Record<string, string> {
  if (url === null) return {};
  return { "List-Unsubscribe": `<${url}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
}
