import { systemClock } from "../base/clock.ts";
import { dayOf } from "../base/signing-keys.ts";
import { type Check, ok, warn } from "./finding.ts";

const name = "signing keys";

export const checkSigning: Check = async ({ embedded, QL_SIGNING_KEYS: keys }) => {
  if (keys === undefined) {
    if (embedded) return [ok(name, "none yet; the first start creates one")];
    const found =
      "derived from QL_CODE_SALT: with another salt, unsubscribe links and all other signatures become invalid";
    return [warn(name, found, "Run `quicklink secrets rotate --signing` and set QL_SIGNING_KEYS as printed.")];
  }
  const [first, ...former] = keys;
  const now = systemClock.now();
  const verifying = former.flatMap(({ id, until }) => {
    if (until === undefined) return [`"${id}"`];
    return until > now ? [`"${id}" until ${dayOf(until)}`] : [];
  });
  return [
    ok(name, `"${first?.id}" signs${verifying.length > 0 ? `; previous keys verify: ${verifying.join(", ")}` : ""}`),
  ];
};
