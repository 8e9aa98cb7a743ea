import { describe, expect, test } from "bun:test";
import { generateKeyPairSync, sign } from "node:crypto";
import { isSigned, isTimely, parseWebhookKey } from "./signature.ts";

const pair = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve });
const written = (key: ReturnType<typeof pair>["publicKey"]) =>
  key.export({ format: "der", type: "spki" }).toString("base64");

const { publicKey, privateKey } = pair("P-256");
const body = Buffer.from('[{"event":"delivered"}]\r\n');
const timestamp = "1763287200";
const signature = sign("sha256", Buffer.concat([Buffer.from(timestamp), body]), privateKey).toString("base64");
const signed = { body, signature, timestamp };

function key() {
  const parsed = parseWebhookKey(written(publicKey));
  if (parsed === undefined) throw new Error("the key is not understood");
  return parsed;
}

describe("a signature", () => {
  test("of these bytes at this time is good", () => {
    expect(isSigned(signed, key())).toBe(true);
  });

  test("of anything else is not", () => {
    expect(isSigned({ ...signed, timestamp: "1763287201" }, key())).toBe(false);
    expect(isSigned({ ...signed, body: body.subarray(0, -2) }, key())).toBe(false);
    expect(isSigned({ ...signed, signature: signature.replace(/.{8}==?$|.{8}$/, "AAAAAAAA") }, key())).toBe(false);
    expect(isSigned(signed, pair("P-256").publicKey)).toBe(false);
  });

  test.each(["", "=", "not base64 at all!", "AAAA", "x".repeat(100_000)])("is not %p", (text) => {
    expect(isSigned({ ...signed, signature: text }, key())).toBe(false);
  });
});

describe("a key for events", () => {
  test("is one of P-256, as SendGrid shows it", () => {
    expect(parseWebhookKey(written(publicKey))).toBeDefined();
  });

  test("is no other", () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 1_024 }).publicKey;
    const { publicKey: ed25519 } = generateKeyPairSync("ed25519");
    const others = [
      ...[written(pair("P-384").publicKey), written(rsa), written(ed25519)],
      ...["", "AAAA", "SG.key", publicKey.export({ format: "pem", type: "spki" }).toString(), "A".repeat(10_000)],
      ...[privateKey.export({ format: "der", type: "pkcs8" }).toString("base64"), `${written(publicKey)}\r\nx: y`],
    ];
    for (const text of others) expect(parseWebhookKey(text)).toBeUndefined();
  });
});

test("a body is timely for a day, during which SendGrid retries", () => {
  const now = 1_763_287_200_000;
  const at = (seconds: number) => String(now / 1_000 + seconds);
  expect([at(0), at(-86_400), at(120)].map((text) => isTimely(text, now))).toEqual([true, true, true]);
  expect([at(-90_001), at(301), "", "now", "1e9", "-1", "9".repeat(13)].map((text) => isTimely(text, now))).toEqual(
    Array(7).fill(false),
  );
});
