import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import type { TenantId } from "../base/ids.ts";
import { createSigningKeys } from "../base/signature.ts";
import { createPages, type ListName } from "./pagination.ts";

const keys = createSigningKeys([{ id: "a", key: Buffer.from("a key for tests") }], manualClock(0));
const pages = createPages(keys.signerFor("cursors"));
const ours: ListName = { tenant: "ten_1" as TenantId, name: "links" };
const all = Array.from({ length: 7 }, (_, i) => i + 1);

const page = (list: ListName, limit: number, cursor?: string) =>
  pages.page(
    list,
    { limit, cursor },
    async (most, after: [number] | undefined) => all.filter((one) => one > (after?.[0] ?? 0)).slice(0, most),
    (item): [number] => [item],
  );

test.each([1, 2, 3, 6, 7, 8])("pages of %d hold everything once, and the last one says so", async (limit) => {
  const found: number[] = [];
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await page(ours, limit, cursor);
    expect(items.length).toBeLessThanOrEqual(limit);
    found.push(...items);
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(found).toEqual(all);
});

test("a cursor is good for its list and its tenant only, and not if it was changed", async () => {
  const { nextCursor } = await page(ours, 3);
  const cursor = nextCursor ?? "";
  const forged = `${Buffer.from("[6]").toString("base64url")}.${cursor.split(".")[1]}`;
  await expect(page({ ...ours, tenant: "ten_2" as TenantId }, 3, cursor)).rejects.toThrow("cursor");
  await expect(page({ ...ours, name: "files" }, 3, cursor)).rejects.toThrow("cursor");
  await expect(page(ours, 3, forged)).rejects.toThrow("cursor");
  expect((await page(ours, 3, cursor)).items).toEqual([4, 5, 6]);
});
