import { type Check, type Finding, ok, warn } from "./finding.ts";

const name = "public address";
const local = /^(?:localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/;

/** Checks the public address, and whether it fits the proxy in front of the server. */
export const checkAddress: Check = async ({ baseUrl, embedded, source }) => {
  const { protocol, hostname } = new URL(baseUrl);
  const proxied = (source.QL_TRUSTED_PROXIES ?? "") !== "";
  const findings: Finding[] = [];
  if (local.test(hostname) && (!embedded || proxied)) {
    findings.push(
      warn(name, `${baseUrl}: short links work on this machine only`, "Set QL_BASE_URL to the public address."),
    );
  } else if (proxied && protocol === "http:") {
    findings.push(
      warn(
        name,
        `${baseUrl} is behind a proxy and not https: API keys and visits can be read in transit`,
        "Enable TLS on the proxy, and set QL_BASE_URL to its https:// address.",
      ),
    );
  } else if (!proxied && protocol === "https:") {
    // An https address means a proxy, because the server itself has no TLS.
    findings.push(
      warn(
        name,
        `${baseUrl} is behind a proxy that is not trusted: all visitors have its address and share one limit for unknown codes`,
        "Set QL_TRUSTED_PROXIES to the addresses your proxy connects from.",
      ),
    );
  }
  return findings.length > 0 ? findings : [ok(name, baseUrl)];
};
