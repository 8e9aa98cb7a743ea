import { BlockList, isIP } from "node:net";
import { domainToASCII } from "node:url";
import { hostName } from "../base/host-name.ts";
import { parseRedisUrl } from "../redis/address.ts";

/** Parsers of settings. Each throws the end of a sentence that starts with the text. */

export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^-?\d+$/.test(text) || value < min || value > max) {
      throw new Error(`is not a whole number from ${min} to ${max}`);
    }
    return value;
  };
}

export function fraction(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d(?:\.\d{1,6})?$/.test(text) || value < min || value > max) {
      throw new Error(`is not a number from ${min} to ${max}`);
    }
    return value;
  };
}

/** `null` for the word "none". */
export function orNone<Value>(parse: (text: string) => Value): (text: string) => Value | null {
  return (text) => (text === "none" ? null : parse(text));
}

export function text(min: number, max: number): (value: string) => string {
  return (value) => {
    if (value.length < min || value.length > max) throw new Error(`must have ${min} to ${max} characters`);
    return value;
  };
}

export function oneOf<const Choice extends string>(...choices: Choice[]): (value: string) => Choice {
  return (value) => {
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) throw new Error(`is not one of ${choices.join(", ")}`);
    return choice;
  };
}

export type SignUpSetting =
  | { readonly kind: "invitation" | "everyone" }
  | { readonly kind: "domains"; readonly domains: ReadonlySet<string> };

/** A word, or email domains. */
export function signUp(value: string): SignUpSetting {
  if (value === "invitation" || value === "everyone") return { kind: value };
  const domains = hostNames(value);
  const wrong = domains.find((domain) => !domain.includes(".") || domain.startsWith("["));
  if (domains.length === 0 || wrong !== undefined) {
    throw new Error("is not invitation, everyone, or a list of email domains");
  }
  return { kind: "domains", domains: new Set(domains) };
}

export function url(...protocols: string[]): (value: string) => string {
  return (value) => {
    if (!URL.canParse(value) || !protocols.some((protocol) => value.toLowerCase().startsWith(`${protocol}//`))) {
      throw new Error(`is not a URL that starts with ${protocols.map((p) => `${p}//`).join(" or ")}`);
    }
    return value;
  };
}

/** The bucket for files, and our credentials. */
export interface BucketSetting {
  /** `https://s3.internal:9000/quicklink`, without a trailing slash. */
  readonly endpoint: string;
  readonly region: string;
  readonly keyId: string;
  readonly secret: string;
}

export function bucketUrl(value: string): BucketSetting {
  const parsed = new URL(url("http:", "https:")(value));
  const [, bucket = ""] = /^\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/?$/.exec(parsed.pathname) ?? [];
  if (bucket === "") throw new Error("must have one bucket name after the host");
  if (parsed.username === "" || parsed.password === "")
    throw new Error("must have a key ID and a secret before the host");
  const stray = [...parsed.searchParams.keys()].filter((name) => name !== "region");
  if (stray.length > 0 || parsed.hash !== "") throw new Error("must have nothing after the bucket except ?region=");
  return {
    endpoint: `${parsed.origin}/${bucket}`,
    region: parsed.searchParams.get("region") || "us-east-1",
    keyId: decodeURIComponent(parsed.username),
    secret: decodeURIComponent(parsed.password),
  };
}

export function nameServers(value: string): readonly string[] {
  const servers = value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const bad = servers.find((server) => isIP(server.replace(/^\[(.*)\](?::\d{1,5})?$|^([^:]*):\d{1,5}$/, "$1$2")) === 0);
  if (bad !== undefined) throw new Error(`contains "${bad}", which is not an IP address`);
  return servers;
}

export function hostNames(value: string): readonly string[] {
  const parts = value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return parts.map((part) => {
    // domainToASCII would drop everything after the name, and a port is not part of it.
    const name = part.startsWith("[")
      ? hostName(part)
      : /[/\\?#@:]/.test(part)
        ? undefined
        : hostName(domainToASCII(part));
    if (!name) throw new Error(`contains "${part}", which is not a host name (without a port)`);
    return name;
  });
}

export function redisUrl(value: string): string {
  parseRedisUrl(value);
  return value;
}

export function baseUrl(value: string): string {
  const parsed = new URL(url("http:", "https:")(value));
  if (parsed.pathname !== "/" || parsed.search || parsed.hash || parsed.username) {
    throw new Error("must be a scheme and a host, without a path");
  }
  if (hostName(parsed.hostname) === undefined) throw new Error("has an invalid host name");
  return parsed.origin;
}

export function ipAddress(value: string): string {
  if (isIP(value) === 0 && value !== "localhost") throw new Error("is not an IP address");
  return value;
}

export function portList(value: string): readonly number[] {
  return value.split(",").map((part) => integer(1, 65_535)(part.trim()));
}

export function headerName(value: string): string {
  if (!/^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(value)) throw new Error("is not a header name, such as CF-IPCountry");
  return value;
}

export function addressList(value: string): BlockList {
  const list = new BlockList();
  for (const part of value.split(",").map((piece) => piece.trim())) {
    if (part === "") continue;
    const [ip = "", bits, ...more] = part.split("/");
    const family = isIP(ip) === 6 ? "ipv6" : "ipv4";
    const most = family === "ipv6" ? 128 : 32;
    if (more.length > 0 || isIP(ip) === 0 || (bits !== undefined && !(/^\d+$/.test(bits) && Number(bits) <= most))) {
      throw new Error(`contains "${part}", which is not an IP address or range`);
    }
    if (bits === undefined) list.addAddress(ip, family);
    else list.addSubnet(ip, Number(bits), family);
  }
  return list;
}

/** Of an OpenID provider. Plain http is for one on this machine. */
export function issuerUrl(value: string): string {
  const parsed = new URL(url("http:", "https:")(value));
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(parsed.hostname);
  if (parsed.protocol === "http:" && !isLocal) throw new Error("must start with https://");
  if (parsed.search || parsed.hash || parsed.username || parsed.password) {
    throw new Error("must have no parameters and no credentials");
  }
  return value;
}

/** Email domains; `everybody` for the word "all". */
export function mailDomains(value: string): "everybody" | ReadonlySet<string> {
  return value === "all" ? "everybody" : new Set(hostNames(value));
}
