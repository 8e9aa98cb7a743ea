import type { Mistakes } from "../mistake.ts";

const files = ["test/conformance/files.test.ts"];
const disk = ["test/conformance/disk.test.ts"];
const storage = ["test/conformance/storage.test.ts"];
const s3 = ["test/conformance/s3.test.ts"];
const range = ["src/files/download/range.test.ts"];
const headers = ["src/files/download/headers.test.ts"];

export const fileMistakes: Mistakes = {
  "one-byte-beyond-the-quota": {
    file: "files/store.ts",
    from: "if (max !== null && bytes + row.size_bytes > max)",
    to: "if (max !== null && bytes + row.size_bytes > max + 1)",
    tests: files,
    only: "from the first byte too many",
  },
  "stored-bytes-not-counted": {
    file: "files/store.ts",
    from: "const after = { bytes: bytes + row.size_bytes, version: version + 1, files: files + 1 };",
    to: "const after = { bytes, version: version + 1, files: files + 1 };",
    tests: files,
    only: "is stored, counts",
  },
  "version-of-the-total-not-raised": {
    file: "files/store.ts",
    from: "const after = { bytes: bytes + row.size_bytes, version: version + 1, files: files + 1 };",
    to: "const after = { bytes: bytes + row.size_bytes, version, files: files + 1 };",
    tests: files,
    only: "is stored, counts|a file that is deleted",
  },
  "deleted-bytes-given-back-twice": {
    file: "files/store.ts",
    from: "bytes: Math.max(0, bytes - row.size_bytes), files",
    to: "bytes: Math.max(0, bytes - 2 * row.size_bytes), files",
    tests: files,
    only: "a file that is deleted|the sync",
  },
  "pending-file-in-the-list": {
    file: "files/store.ts",
    from: '        .where("state", "<>", "deleting")\n        .whereRef("upload_until", ">", "created_at");',
    to: '        .where("state", "<>", "deleting");',
    tests: files,
    only: "a crash before the upload was admitted|are listed newest first",
  },
  "upload-given-up-too-soon": {
    file: "files/store.ts",
    from: '      .where("upload_until", "<", endedBefore)\n      .returning(columns),',
    to: "      .returning(columns),",
    tests: files,
    only: "is not given up while its upload",
  },
  "sweep-skips-what-was-abandoned": {
    file: "files/store.ts",
    from: '            is("upload_until", "<", endedBefore),\n',
    to: "",
    tests: files,
    only: "an upload that is given up",
  },
  "sweep-skips-stray-uploads": {
    file: "files/upkeep/sweep.ts",
    from: "      await storage.remove(key);\n      swept.stray++;",
    to: "      swept.stray++;",
    tests: files,
    only: "sent again after completion|arrive for a deleted file",
  },
  "fresh-orphans-removed": {
    file: "files/upkeep/orphans.ts",
    from: "if (id === undefined || object.modifiedAt >= before) return;",
    to: "if (id === undefined) return;",
    tests: files,
    only: "orphans",
  },
  "wrong-folder-loses-all-rows": {
    file: "files/upkeep/orphans.ts",
    from: "const suspicious = sums.rowsFound > 0 && (many || seen.objects === 0);",
    to: "const suspicious = sums.rowsFound > 0 && many && seen.objects === 0;",
    tests: files,
    only: "orphans",
  },
  "released-before-it-is-counted": {
    file: "files/quota/quota.ts",
    from: 'settle: async (file, total) => (await sync(file.tenantId, total)) && (await release(file)) !== "unavailable",',
    to: 'settle: async (file, total) => (await release(file)) !== "unavailable" || (await sync(file.tenantId, total)),',
    tests: files,
    only: "is stored, counts|a crash",
  },
  "lost-holds-not-held-again": {
    file: "files/quota/quota.ts",
    from: "if (!(await isHeldAgain(id))) return unavailable;",
    to: "",
    tests: files,
    only: "when the counters lose",
  },
  "announced-while-the-counters-are-away": {
    file: "files/files.ts",
    from: "if (!(await quota.isAnswering(tenant.id))) throw unavailable();",
    to: "",
    tests: files,
    only: "do not answer for long",
  },
  "admitted-uploads-not-returned": {
    file: "files/store.ts",
    from: 'own.selectFrom("files as announced").where("state", "=", "pending").whereRef("upload_until", ">", "created_at");',
    to: 'own.selectFrom("files as announced").where("state", "=", "pending").whereRef("upload_until", "<", "created_at");',
    tests: files,
    only: "when the counters lose|is refused before a byte",
  },
  "expired-address-works": {
    file: "files/storage/tokens.ts",
    from: 'if (Number(until) <= clock.now()) throw new Problem("address_expired", over[purpose]);',
    to: 'if (Number(until) < clock.now()) throw new Problem("address_expired", over[purpose]);',
    tests: ["src/files/storage/tokens.test.ts"],
  },
  "download-address-uploads": {
    file: "files/storage/tokens.ts",
    from: "if (more.length > 0 || !signer.isSigned(`${purpose}.${payload}`, signature)) {",
    to: "if (more.length > 0 || !(signer.isSigned(`upload.${payload}`, signature) || signer.isSigned(`download.${payload}`, signature))) {",
    tests: ["src/files/storage/tokens.test.ts"],
  },
  "s3-length-not-signed": {
    file: "files/storage/s3-signer.ts",
    from: "allHeaders: true,",
    to: "allHeaders: false,",
    tests: s3,
  },
  "s3-list-ends-early": {
    file: "files/storage/s3-list.ts",
    from: 'after: field(xml, "IsTruncated") === "true" && last !== undefined ? unescapeXml(last) : undefined,',
    to: "after: undefined,",
    tests: ["src/files/storage/s3-list.test.ts"],
  },
  "last-byte-missing": {
    file: "files/download/range.ts",
    from: 'return { kind: "part", start, length: end - start + 1 };',
    to: 'return { kind: "part", start, length: end - start };',
    tests: range,
  },
  "part-of-another-version": {
    file: "files/download/range.ts",
    from: "if (condition !== null && condition !== etag && condition !== modified) return whole;",
    to: "",
    tests: range,
  },
  "range-beyond-the-end": {
    file: "files/download/range.ts",
    from: "if (start >= sizeBytes)",
    to: "if (start > sizeBytes)",
    tests: range,
  },
  "page-shown-on-our-host": {
    file: "files/download/headers.ts",
    from: 'if (!harmless.has(type)) return "application/octet-stream";',
    to: 'if (type === "") return "application/octet-stream";',
    tests: headers,
  },
  "quote-in-a-file-name": {
    file: "files/download/headers.ts",
    from: '.replace(/["\\\\%]/g, "_");',
    to: ";",
    tests: headers,
  },
  "download-may-run": {
    file: "files/download/download.ts",
    from: '  "content-security-policy": "sandbox; default-src \'none\'",\n',
    to: "",
    tests: disk,
    only: "a download cannot run",
  },
  "one-byte-too-many-kept": {
    file: "files/upload/receive.ts",
    from: "if (received > sizeBytes) throw tooLarge(sizeBytes);",
    to: "if (received > sizeBytes + 1) throw tooLarge(sizeBytes);",
    tests: ["src/files/upload/receive.test.ts"],
  },
  "short-upload-kept": {
    file: "files/upload/receive.ts",
    from: "if (received < sizeBytes) throw tooShort(received, sizeBytes);",
    to: "",
    tests: ["src/files/upload/receive.test.ts"],
  },
  "slow-upload-never-ended": {
    file: "files/upload/receive.ts",
    from: "if (counts && cameBytes < (leastBytesPerSecond * windowMs) / 1_000) {",
    to: "if (counts && cameBytes < (leastBytesPerSecond * windowMs) / 1_000_000) {",
    tests: disk,
    only: "slower than the minimum rate",
  },
  "content-not-compared": {
    file: "files/upload/content.ts",
    from: "if (recognised.has(declared) || marked.has(declared)) return false;",
    to: "",
    tests: ["src/files/upload/content.test.ts"],
  },
  "list-on-disk-repeats": {
    file: "files/storage/disk.ts",
    from: "(after === undefined || name > after)) yield name;",
    to: "(after === undefined || name >= after)) yield name;",
    tests: storage,
    only: "pages list every key",
  },
  "recount-of-a-dry-run-written": {
    file: "files/quota/storage-total.ts",
    from: "if (!dryRun) await setStorageTotal",
    to: "await setStorageTotal",
    tests: files,
    only: "the sync",
  },
};
