import type { Mistakes } from "../mistake.ts";

const served = ["src/dashboard/mount.test.ts"];

/** Mistakes in how the dashboard is served. */
export const dashboardMistakes: Mistakes = {
  "inline-script-allowed": {
    file: "dashboard/mount.ts",
    from: "script-src 'self'; style-src",
    to: "script-src 'self' 'unsafe-inline'; style-src",
    tests: served,
  },
  "framed-by-others": {
    file: "dashboard/mount.ts",
    from: "form-action 'self'; frame-ancestors 'none'",
    to: "form-action 'self'",
    tests: served,
  },
  "any-file-served": {
    file: "dashboard/bundle.ts",
    from: 'const type = types[assetName.exec(name)?.[1] ?? ""];',
    to: 'const type = types[name.split(".").at(-1) ?? ""];',
    tests: served,
  },
  "compressed-for-everybody": {
    file: "dashboard/bundle.ts",
    from: "if (/\\bbr\\b/.test(acceptEncoding) && existsSync",
    to: "if (existsSync",
    tests: served,
  },
  "page-kept-for-good": {
    file: "dashboard/mount.ts",
    from: '"cache-control": "no-cache",',
    to: '"cache-control": "public, max-age=31536000, immutable",',
    tests: served,
  },
};
