import { AwsV4Signer } from "aws4fetch";
import { type Clock, toIso } from "../../base/clock.ts";

/**
 * AWS Signature Version 4, in the two forms that S3 takes: in a header for our own calls, in the address for those that
 * others make. All headers are signed, also the length and the type, which the library leaves out unless told: they are
 * what an upload is held to.
 */
export interface S3Signer {
  /** The headers to send: those given, and the signature. */
  header(request: Unsigned): Promise<Headers>;
  /** The address with its signature, good for so long with just these headers. */
  address(request: Unsigned, seconds: number): Promise<string>;
}

export interface Unsigned {
  readonly method: string;
  readonly url: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Credentials {
  readonly region: string;
  readonly keyId: string;
  readonly secret: string;
}

export function createS3Signer({ region, keyId, secret }: Credentials, clock: Clock): S3Signer {
  const keysOfDays = new Map<string, ArrayBuffer>();

  async function sign({ method, url, query, headers }: Unsigned, signQuery: boolean) {
    // Those of the days before are of no use any more.
    if (keysOfDays.size > 1) keysOfDays.clear();
    return await new AwsV4Signer({
      method,
      url: withQuery(url, query),
      headers: { ...headers },
      accessKeyId: keyId,
      secretAccessKey: secret,
      service: "s3",
      region,
      cache: keysOfDays,
      datetime: toIso(clock.now()).replace(/[:-]|\.\d{3}/g, ""),
      allHeaders: true,
      signQuery,
    }).sign();
  }

  return {
    header: async (request) => (await sign(request, false)).headers,
    async address({ query, ...request }, seconds) {
      const { url } = await sign({ ...request, query: { ...query, "X-Amz-Expires": String(seconds) } }, true);
      return withQuery(url.origin + url.pathname, Object.fromEntries(url.searchParams));
    },
  };
}

/** A space as %20 as it is signed, where `URL` writes a plus that not every store takes for one. */
export function withQuery(url: string, query: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(query).map((pair) => pair.map(encode).join("="));
  return pairs.length === 0 ? url : `${url}?${pairs.join("&")}`;
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
