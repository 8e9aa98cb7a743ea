import type { LinkId } from "../../base/ids.ts";
import { cacheKey, type Link, type LinkHealth, type LinkState } from "../link.ts";

interface Sources {
  readonly targets: { of(links: readonly Link[]): Promise<Map<LinkId, LinkHealth>> };
  readonly suspensions: { ofLinks(links: readonly Link[]): Promise<Map<string, string>> };
}

/** Collects what is known about links besides what their owners set. */
export async function statesOf(
  { targets, suspensions }: Sources,
  links: readonly Link[],
): Promise<Map<LinkId, LinkState>> {
  const [found, reasons] = await Promise.all([targets.of(links), suspensions.ofLinks(links)]);
  return new Map(
    links.map((link) => {
      const suspended = reasons.get(cacheKey(link.domain, link.code)) ?? null;
      return [link.id, { target: found.get(link.id) ?? null, suspended }];
    }),
  );
}
