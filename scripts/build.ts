/** `npm run build`: one executable with everything inside, in dist/ or where the first word says. */
import { programs } from "./programs.ts";

const outfile = Bun.argv[2] ?? "dist/quicklink";

await Bun.build({
  entrypoints: programs,
  naming: "[name].[ext]",
  // The dashboard, as web/bundle.ts has written it.
  compile: { outfile, assets: ["./dist/web"], autoloadDotenv: false, autoloadBunfig: false },
  minify: { whitespace: true, syntax: true, identifiers: false },
  sourcemap: "inline",
  format: "esm",
  bytecode: true,
});

const megabytes = Math.round(Bun.file(outfile).size / 1_048_576);
console.log(`${outfile}  ${megabytes} MB\nStart it with: ${outfile} serve`);
