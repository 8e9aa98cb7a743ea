import { accessSync, constants, existsSync } from "node:fs";
import { type Check, fail, ok } from "./finding.ts";

const name = "data folder";

export const dataFolder: Check = async ({ embedded, QL_DATA: folder }) => {
  if (!embedded) return [];
  if (!existsSync(folder)) return [ok(name, `${folder} is not there yet; the first start makes it`)];
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return [ok(name, folder)];
  } catch (error) {
    return [fail(name, error, "Give the folder to the user that runs the server, or set QL_DATA to another.")];
  }
};
