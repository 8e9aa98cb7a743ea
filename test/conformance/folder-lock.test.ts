import { describe, expect, test } from "bun:test";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../src/base/errors.ts";
import { lockFolder, tryLockFolder } from "../../src/sql/folder-lock.ts";
import { startProcess, until } from "../ground/process.ts";
import { tempFolder } from "../ground/temp.ts";

const source = JSON.stringify(join(import.meta.dir, "../../src/sql/folder-lock.ts"));

/** Another process that holds the lock until it is ended. */
async function holder(folder: string) {
  const script = `
    const { lockFolder } = await import(${source});
    const lock = lockFolder(${JSON.stringify(folder)});
    console.log("locked");
    setInterval(() => lock, 1_000);
  `;
  const child = startProcess([process.execPath, "--no-env-file", "-e", script]);
  await child.waitForOutput(/locked/);
  return child;
}

function refusal(folder: string): OperatorError {
  try {
    lockFolder(folder).release();
  } catch (error) {
    if (error instanceof OperatorError) return error;
    throw error;
  }
  throw new Error("the folder was free");
}

describe("a data folder", () => {
  test("belongs to one server at a time", () => {
    const folder = tempFolder("lock");
    const lock = lockFolder(folder);
    expect(tryLockFolder(folder)).toBeUndefined();
    expect(refusal(folder).exitCode).toBe(2);
    lock.release();
    lockFolder(folder).release();
  });

  test("that is in use is refused, with who uses it and what to do", async () => {
    const folder = tempFolder("lock");
    const other = await holder(folder);
    const { exitCode, message } = refusal(folder);
    expect(exitCode).toBe(2);
    expect(message).toStartWith(`Another QuickLink server (process ${other.pid}) is using ${folder}.`);
    expect(message).toContain("QL_DATA");
    await other.kill();
  });

  test("that is in use is refused even if the holder is unknown", async () => {
    const folder = tempFolder("lock");
    const lock = lockFolder(folder);
    rmSync(join(folder, "serve.pid"));
    expect(refusal(folder).message).toStartWith("Another QuickLink server");
    lock.release();
  });

  test("is free again when its server was killed with -9", async () => {
    const folder = tempFolder("lock");
    const other = await holder(folder);
    expect(tryLockFolder(folder)).toBeUndefined();
    await other.kill();
    const lock = await until("the lock to be free", () => tryLockFolder(folder));
    lock.release();
  });

  test("does not keep another folder's server away", () => {
    const locks = [tempFolder("lock"), tempFolder("lock")].map(lockFolder);
    for (const lock of locks) lock.release();
  });

  test("is created if it is missing, readable for its user only", () => {
    const folder = join(tempFolder("lock"), "new", "data");
    lockFolder(folder).release();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test("can be released twice", () => {
    const folder = tempFolder("lock");
    const lock = lockFolder(folder);
    lock.release();
    lock.release();
    lockFolder(folder).release();
  });
});
