import { AwsV4Signer } from "aws4fetch";
import { type Clock, toIso } from "../../base/clock.ts";

/**
 * AWS Signature Version 4, in the two forms of S3: in a header for our calls, in the URL for those of clients. All
 * headers are signed, including length and type, which the library leaves out by default: an upload must match them.
 */
export interface S3Signer {
  /** The headers to send: those given, and the signature. */
  header(request: Unsigned): Promise<Headers>;
  /** The signed URL, valid for this long with exactly these headers. */
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
    // Keys of previous days are no longer needed.
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

/** A space as %20, as it is signed; `URL` would write a plus, which not every store decodes. */
export function withQuery(url: string, query: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(query).map((pair) => pair.map(encode).join("="));
  return pairs.length === 0 ? url : `${url}?${pairs.join("&")}`;
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
