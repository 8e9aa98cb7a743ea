/**
 * Whether a request has a valid AWS Signature Version 4, as an S3 server checks it: from the raw request and the
 * secret, by AWS' documentation and without any code that signs on our side.
 */
import { createHash, createHmac } from "node:crypto";

export interface Received {
  readonly method: string;
  /** As they stood in the request line. */
  readonly path: string;
  readonly query: string;
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Account {
  readonly keyId: string;
  readonly secret: string;
  readonly region: string;
}

export type Judgement =
  /** What the body must hash to, unless that was left open. */
  { readonly payload: string } | { readonly status: 400 | 403; readonly code: string };

const unsigned = "UNSIGNED-PAYLOAD";
const skewMostMs = 15 * 60_000;
const secondsMost = 604_800;

export function judge(request: Received, account: Account, now: number): Judgement {
  const params = paramsOf(request.query);
  const inQuery = params.some(([name]) => name === "X-Amz-Signature");
  const claim = inQuery ? claimInQuery(params) : claimInHeader(request.headers);
  if (claim === undefined) return deny("AccessDenied");
  const { credential, signedHeaders, signature, date } = claim;
  const time = timeOf(date);
  const scope = `${date.slice(0, 8)}/${account.region}/s3/aws4_request`;
  if (time === undefined || credential !== `${account.keyId}/${scope}`) return deny("InvalidAccessKeyId");
  if (claim.seconds === undefined) {
    if (Math.abs(now - time) > skewMostMs) return deny("RequestTimeTooSkewed");
  } else {
    if (!(claim.seconds >= 1 && claim.seconds <= secondsMost))
      return { status: 400, code: "AuthorizationQueryParametersError" };
    if (time > now + skewMostMs) return deny("AccessDenied");
    if (now >= time + claim.seconds * 1_000) return deny("AccessDenied");
  }
  const names = signedHeaders.split(";");
  const mustBeSigned = ["host", ...Object.keys(request.headers).filter((name) => name.startsWith("x-amz-"))];
  if (names.join() !== names.toSorted().join() || mustBeSigned.some((name) => !names.includes(name))) {
    return deny("AccessDenied");
  }
  const payload = request.headers["x-amz-content-sha256"] ?? (inQuery ? unsigned : undefined);
  if (payload === undefined) return { status: 400, code: "InvalidRequest" };
  const canonical = [
    request.method,
    canonicalPath(request.path),
    canonicalQuery(params.filter(([name]) => name !== "X-Amz-Signature")),
    ...names.map((name) => `${name}:${(request.headers[name] ?? "").trim().replace(/ +/g, " ")}`),
    "",
    signedHeaders,
    payload,
  ].join("\n");
  const text = ["AWS4-HMAC-SHA256", date, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  return signature === hmac(signingKey(account, date.slice(0, 8)), text).toString("hex")
    ? { payload }
    : deny("SignatureDoesNotMatch");
}

const deny = (code: string): Judgement => ({ status: 403, code });

interface Claim {
  readonly credential: string;
  readonly signedHeaders: string;
  readonly signature: string;
  readonly date: string;
  /** For how long, of an address. */
  readonly seconds?: number;
}

function claimInHeader(headers: Received["headers"]): Claim | undefined {
  const pattern = /^AWS4-HMAC-SHA256 Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/;
  const [, credential, signedHeaders, signature] = pattern.exec(headers.authorization ?? "") ?? [];
  const date = headers["x-amz-date"];
  if (!credential || !signedHeaders || !signature || !date) return undefined;
  return { credential, signedHeaders, signature, date };
}

function claimInQuery(params: readonly Param[]): Claim | undefined {
  const one = (name: string) => {
    const found = params.filter(([other]) => other === name);
    return found.length === 1 ? found[0]?.[1] : undefined;
  };
  const [credential, signedHeaders, signature] = [
    one("X-Amz-Credential"),
    one("X-Amz-SignedHeaders"),
    one("X-Amz-Signature"),
  ];
  const [date, seconds] = [one("X-Amz-Date"), one("X-Amz-Expires")];
  if (one("X-Amz-Algorithm") !== "AWS4-HMAC-SHA256") return undefined;
  if (!credential || !signedHeaders || !signature || !date || !seconds) return undefined;
  return { credential, signedHeaders, signature, date, seconds: /^\d+$/.test(seconds) ? Number(seconds) : Number.NaN };
}

function timeOf(date: string): number | undefined {
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? [];
  return s === undefined ? undefined : Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`);
}

type Param = readonly [name: string, value: string];

/** A plus is a plus: a space is written as %20. */
export function paramsOf(query: string): Param[] {
  return query
    .split("&")
    .filter((part) => part !== "")
    .map((part) => {
      const [name = "", ...value] = part.split("=");
      return [decodeURIComponent(name), decodeURIComponent(value.join("="))];
    });
}

const encode = (text: string): string =>
  Array.from(Buffer.from(text), (byte) =>
    /[A-Za-z0-9\-._~]/.test(String.fromCharCode(byte))
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
  ).join("");

const canonicalPath = (path: string): string =>
  path
    .split("/")
    .map((part) => encode(decodeURIComponent(part)))
    .join("/");

const canonicalQuery = (params: readonly Param[]): string =>
  params
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join("&");

const hmac = (key: string | Uint8Array, text: string): Buffer => createHmac("sha256", key).update(text).digest();

const signingKey = ({ secret, region }: Account, day: string): Buffer =>
  ["aws4_request", "s3", region].reduceRight((key, part) => hmac(key, part), hmac(`AWS4${secret}`, day));
