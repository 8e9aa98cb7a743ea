import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { firstKeyPath } from "../config/data-folder.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

const name = "data folder";

export const checkDataFolder: Check = async (config) => [...(await folderOf(config)), ...firstKeyIn(config)];

/** The key gives full access to its tenant, and is meant to be copied and deleted. */
function firstKeyIn({ QL_DATA: folder }: Config): Finding[] {
  const path = firstKeyPath(folder);
  if (!existsSync(path)) return [];
  return [
    warn(
      "first key",
      `${path} still contains the API key of the first start`,
      "Copy it to a safe place and delete the file.",
    ),
  ];
}

const folderOf: Check = async ({ embedded, QL_DATA: folder }) => {
  if (!embedded) return [];
  if (!existsSync(folder)) return [ok(name, `${folder} does not exist yet; the first start creates it`)];
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const open = readableByOthers(folder);
    return open.length === 0 ? [ok(name, folder)] : open;
  } catch (error) {
    return [fail(name, error, "Make the server's user the owner of the folder, or set QL_DATA to another folder.")];
  }
};

/** A folder that only its owner can enter protects everything in it. */
function readableByOthers(folder: string): Finding[] {
  const others = 0o077;
  const open = (path: string) => existsSync(path) && (statSync(path).mode & others) !== 0;
  if (!open(folder)) return [];
  const exposed = ["quicklink.sqlite", "secrets"].map((one) => join(folder, one)).filter(open);
  const found = `other users of this machine can access ${folder}`;
  const advice = `Run: chmod -R go= ${folder}`;
  return exposed.length > 0
    ? [fail(name, `${found} and read ${exposed.join(", ")}`, advice)]
    : [warn(name, found, advice)];
}
