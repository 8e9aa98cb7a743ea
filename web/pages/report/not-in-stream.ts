import type { Click } from "../../api/generated.ts";
import { instantOf } from "../../instants.ts";

type Place = Pick<Click["link"], "domain" | "code">;
type Seen = Pick<Click, "at" | "reason"> & { readonly link: Place };

/**
 * The clicks of the stream, and below them those of the list that the stream has not shown. Both may have the same click, each
 * in its own zone, and the stream may bring a click that is older than some of the list.
 */
export function notInStream<Listed extends Seen>(stream: readonly Seen[], list: readonly Listed[]): Listed[] {
  const left = new Map<string, number>();
  for (const click of stream) left.set(keyOf(click), (left.get(keyOf(click)) ?? 0) + 1);
  return list.filter((click) => {
    const times = left.get(keyOf(click)) ?? 0;
    left.set(keyOf(click), times - 1);
    return times <= 0;
  });
}

const keyOf = ({ at, reason, link }: Seen): string => [instantOf(at), reason, link.domain, link.code].join(" ");
