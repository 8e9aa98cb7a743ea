import type { Shares } from "../base/shares.ts";
import type { SafeFetch } from "../safe-fetch/safe-fetch.ts";
import type { Tenant } from "../tenants/tenants.ts";
import type { DestinationChecks } from "./destination-check.ts";

/**
 * The image that social networks show for a destination. The dashboard loads nothing from other servers, so this one
 * fetches it: only the image that a checked page names, by the rules of `safe-fetch`, and only formats that cannot hold a
 * script.
 */
export interface PreviewImages {
  find(tenant: Tenant, url: string, signal: AbortSignal): Promise<PreviewImage | undefined>;
}

export interface PreviewImage {
  readonly type: string;
  readonly bytes: Buffer;
}

const mostBytes = 2_000_000;
const fetchMs = 5_000;
const types: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp", "image/gif", "image/avif"]);

export function createPreviewImages(checks: DestinationChecks, safeFetch: SafeFetch, outgoing: Shares): PreviewImages {
  return {
    async find(tenant, url, signal) {
      const found = await checks.check(tenant, url, signal);
      const address = found.kind === "valid" ? found.page?.imageUrl : undefined;
      if (!address) return undefined;
      const fetched = await outgoing.run(
        tenant.id,
        // One byte more shows that there is more.
        () => safeFetch.fetch("GET", address, AbortSignal.timeout(fetchMs), mostBytes + 1),
        { signal },
      );
      if (fetched.kind !== "answered" || fetched.status !== 200 || fetched.body.length > mostBytes) return undefined;
      const { fileTypeFromBuffer } = await import("file-type"); // 2 MB, for the first picture
      const type = (await fileTypeFromBuffer(fetched.body))?.mime;
      return type !== undefined && types.has(type) ? { type, bytes: fetched.body } : undefined;
    },
  };
}
