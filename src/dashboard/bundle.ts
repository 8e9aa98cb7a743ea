import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The bundled dashboard: `dist/web`, which `web/bundle.ts` writes, or the same folder inside the executable. It is looked for
 * when the dashboard is first opened, and costs nothing before.
 */
export interface Bundle {
  readonly style: string;
  readonly entries: Readonly<Record<"main" | "visitor", BundleEntry>>;
  /** The file of an asset, in the best form that the browser accepts. */
  find(name: string, acceptEncoding: string): Asset | undefined;
}

export interface BundleEntry {
  readonly script: string;
  /** Files that the script loads at once. */
  readonly preload: readonly string[];
}

export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly encoding: "br" | "gzip" | undefined;
}

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
};

/** Names are ours, with a hash: nothing else is looked up in the file system. */
const assetName = /^[\w-]{1,100}\.(js|css|json|svg)$/;

/** Inside the executable all code is in one folder, with the bundle in it. */
const folders = [join(import.meta.dir, "web"), join(import.meta.dir, "../../dist/web")];

export function openBundle(places: readonly string[] = folders): Bundle | undefined {
  const folder = places.find((one) => existsSync(join(one, "manifest.json")));
  if (folder === undefined) return undefined;
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Omit<Bundle, "find">;
  return {
    ...manifest,
    find(name, acceptEncoding) {
      const type = types[assetName.exec(name)?.[1] ?? ""];
      const path = join(folder, "assets", name);
      if (type === undefined || !existsSync(path)) return undefined;
      if (/\bbr\b/.test(acceptEncoding) && existsSync(`${path}.br`))
        return { path: `${path}.br`, type, encoding: "br" };
      if (/\bgzip\b/.test(acceptEncoding) && existsSync(`${path}.gz`)) {
        return { path: `${path}.gz`, type, encoding: "gzip" };
      }
      return { path, type, encoding: undefined };
    },
  };
}
