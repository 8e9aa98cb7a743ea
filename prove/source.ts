import { join } from "node:path";
import { sourceFolder } from "../test/ground/server.ts";

/** A module of the source under test, which in a control is a copy with a mistake: `load("codes/codes.ts")`. */
export const load = async <Module>(path: string): Promise<Module> => (await import(join(sourceFolder, path))) as Module;
