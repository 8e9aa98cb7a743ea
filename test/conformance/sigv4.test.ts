/** The examples that AWS gives for Signature Version 4 with S3: what we sign them with, and what our tests judge by. */
import { describe, expect, test } from "bun:test";
import { manualClock } from "../../src/base/clock.ts";
import { createS3Signer } from "../../src/files/storage/s3-signer.ts";
import { judge, type Received } from "../ground/sigv4.ts";

const account = {
  keyId: "AKIAIOSFODNN7EXAMPLE",
  secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
};
const time = Date.UTC(2013, 4, 24);
const host = "examplebucket.s3.amazonaws.com";
const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const welcome = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
const signer = createS3Signer(account, manualClock(time));

const inHeaders = [
  {
    name: "GET of a part",
    method: "GET",
    path: "/test.txt",
    headers: { range: "bytes=0-9", "x-amz-content-sha256": empty },
    signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  },
  {
    name: "PUT",
    method: "PUT",
    path: "/test%24file.text",
    headers: {
      date: "Fri, 24 May 2013 00:00:00 GMT",
      "x-amz-content-sha256": welcome,
      "x-amz-storage-class": "REDUCED_REDUNDANCY",
    },
    signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  },
  {
    name: "GET of a bucket's lifecycle",
    method: "GET",
    path: "/",
    query: { lifecycle: "" },
    headers: { "x-amz-content-sha256": empty },
    signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  },
  {
    name: "list of a bucket",
    method: "GET",
    path: "/",
    query: { prefix: "J", "max-keys": "2" },
    headers: { "x-amz-content-sha256": empty },
    signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  },
];

describe.each(inHeaders)("AWS's example of a $name", ({ method, path, query = {}, headers, signature }) => {
  test("is what we sign", async () => {
    const signed = await signer.header({ method, url: `https://${host}${path}`, query, headers });
    expect(signed.get("authorization")).toEndWith(`Signature=${signature}`);
  });

  test("is taken by the judge, and nothing else is", () => {
    const names = ["host", "x-amz-date", ...Object.keys(headers)].sort().join(";");
    const scope = "20130524/us-east-1/s3/aws4_request";
    const request: Received = {
      method,
      path,
      query: new URLSearchParams(query).toString(),
      headers: {
        ...headers,
        host,
        "x-amz-date": "20130524T000000Z",
        authorization: `AWS4-HMAC-SHA256 Credential=${account.keyId}/${scope},SignedHeaders=${names},Signature=${signature}`,
      },
    };
    const code = (changed: Partial<Received>, now = time) => {
      const judged = judge({ ...request, ...changed }, account, now);
      return "code" in judged ? judged.code : "fine";
    };
    expect(code({})).toBe("fine");
    expect(code({ method: "DELETE" })).toBe("SignatureDoesNotMatch");
    expect(code({ path: "/other" })).toBe("SignatureDoesNotMatch");
    expect(code({ query: "acl" })).toBe("SignatureDoesNotMatch");
    expect(code({ headers: { ...request.headers, "x-amz-content-sha256": "UNSIGNED-PAYLOAD" } })).toBe(
      "SignatureDoesNotMatch",
    );
    expect(code({ headers: { ...request.headers, "x-amz-acl": "public-read" } })).toBe("AccessDenied");
    expect(code({ headers: { host } })).toBe("AccessDenied");
    expect(code({}, time + 16 * 60_000)).toBe("RequestTimeTooSkewed");
  });
});

describe("AWS's example of an address", () => {
  const signature = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";

  test("is what we sign, and is taken by the judge until it is over", async () => {
    const signed = new URL(await signer.address({ method: "GET", url: `https://${host}/test.txt` }, 86_400));
    expect(signed.searchParams.get("X-Amz-Signature")).toBe(signature);
    const request = { method: "GET", path: signed.pathname, query: signed.search.slice(1), headers: { host } };
    expect(judge(request, account, time + 86_399_999)).toEqual({ payload: "UNSIGNED-PAYLOAD" });
    expect(judge(request, account, time + 86_400_000)).toEqual({ status: 403, code: "AccessDenied" });
    expect(judge({ ...request, method: "PUT" }, account, time)).toMatchObject({ code: "SignatureDoesNotMatch" });
  });
});
