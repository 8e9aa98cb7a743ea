import { describe, expect, test } from "bun:test";
import { parseObjectList } from "./s3-list.ts";

const entry = (key: string, size = "3") =>
  `<Contents><Key>${key}</Key><LastModified>2026-11-16T01:02:03.000Z</LastModified><Size>${size}</Size></Contents>`;
const page = (truncated: boolean, ...entries: string[]) =>
  `<?xml version="1.0"?><ListBucketResult xmlns="x"><IsTruncated>${truncated}</IsTruncated>${entries.join("")}</ListBucketResult>`;

describe("a list from the store", () => {
  test("is what it says", () => {
    const modifiedAt = Date.UTC(2026, 10, 16, 1, 2, 3);
    expect(parseObjectList(page(false, entry("files/a"), entry("files/b", "5")))).toEqual({
      objects: [
        { key: "files/a", sizeBytes: 3, modifiedAt },
        { key: "files/b", sizeBytes: 5, modifiedAt },
      ],
      after: undefined,
    });
    expect(parseObjectList(page(false))).toEqual({ objects: [], after: undefined });
  });

  test("leaves out foreign keys, and continues after them", () => {
    const listed = parseObjectList(page(true, entry("files/a"), entry("Holiday &amp; &#x1F389;&#39;.jpg")));
    expect(listed.objects.map(({ key }) => key)).toEqual(["files/a"]);
    expect(listed.after).toBe("Holiday & 🎉'.jpg");
  });

  test.each([
    ["nothing", ""],
    ["an error", "<Error><Code>AccessDenied</Code></Error>"],
    ["cut off", page(true, entry("files/a")).slice(0, -30)],
    ["without a size", page(false, "<Contents><Key>files/a</Key></Contents>")],
    ["without an end", "<ListBucketResult></ListBucketResult>"],
  ])("that is %s is no list", (_, xml) => expect(() => parseObjectList(xml)).toThrow(/file storage returned/));
});
