/**
 * The address of Redis: a single server, Sentinel or Cluster, depending on its scheme.
 *
 *   redis://[user:password@]host[:6379][/database]
 *   redis-sentinel://[user:password@]host[:26379],host…/name[/database]
 *   redis-cluster://[user:password@]host[:6379],host…
 *
 * and `rediss`, `rediss-sentinel`, `rediss-cluster` for TLS. User and password are those of the Redis servers; none are
 * sent to the sentinels. Parsing needs no client library, because settings are checked at every start.
 */
export interface RedisAddress {
  readonly kind: "server" | "sentinel" | "cluster";
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
  /** The name of the group of servers that the sentinels monitor. */
  readonly name: string;
  readonly database: number;
}

/** Throws the end of a sentence, as the settings' table wants it. */
export function parseRedisUrl(text: string): RedisAddress {
  const match = /^(rediss?)(-sentinel|-cluster)?:\/\/(?:([^@/]*)@)?([^/?#]+)(?:\/([^?#]*))?$/.exec(text);
  if (match === null) {
    throw new Error("is not a URL that starts with redis://, redis-sentinel:// or redis-cluster:// (or rediss…)");
  }
  const [, scheme, form, credentials, hosts = "", path = ""] = match;
  const kind = form === "-sentinel" ? "sentinel" : form === "-cluster" ? "cluster" : "server";
  const nodes = hosts.split(",").map((host) => parseNode(host, kind === "sentinel" ? 26_379 : 6_379));
  if (kind === "server" && nodes.length > 1)
    throw new Error("has several hosts: use redis-sentinel:// or redis-cluster://");
  const parts = path.split("/").filter(Boolean);
  const name = kind === "sentinel" ? parts.shift() : "";
  if (name === undefined) throw new Error("does not name the primary that the sentinels watch: …/name");
  if (parts.length > (kind === "cluster" ? 0 : 1) || !/^\d*$/.test(parts[0] ?? "")) {
    throw new Error(
      kind === "cluster" ? "has a path, but a cluster has no databases" : "has a database that is not a number",
    );
  }
  return {
    kind,
    nodes,
    tls: scheme === "rediss",
    ...parseCredentials(credentials),
    name,
    database: Number(parts[0] ?? 0),
  };
}

function parseNode(text: string, fallbackPort: number): { host: string; port: number } {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:@[\]]+)(?::(\d{1,5}))?$/.exec(text);
  const port = Number(match?.[2] ?? fallbackPort);
  const host = match?.[1]?.replace(/^\[|\]$/g, "");
  if (host === undefined || port < 1 || port > 65_535) throw new Error("has an invalid host or port");
  return { host, port };
}

function parseCredentials(text: string | undefined): { username?: string; password?: string } {
  if (!text) return {};
  const [username = "", ...rest] = text.split(":");
  return {
    ...(username === "" ? {} : { username: decode(username) }),
    ...(rest.length === 0 ? {} : { password: decode(rest.join(":")) }),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("has an invalid % in its user or password: write it as %25");
  }
}
