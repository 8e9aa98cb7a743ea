import { writeFileSync } from "node:fs";
import { Command } from "commander";
import { messageOf, OperatorError } from "../base/errors.ts";
import { invalidInput } from "../http/problem.ts";
import { scannedUrl } from "../links/link.ts";
import { qrOptions } from "../qr/api.ts";
import { drawQr } from "../qr/qr.ts";
import { drawOnTerminal } from "../qr/terminal.ts";
import { printDrawing, say } from "./print.ts";
import { findLink, linkArgument, showOf, type TenantOption, withTenant, withTenantOptions } from "./tenant-links.ts";

interface QrCommandOptions extends TenantOption {
  readonly out?: string;
  readonly [name: string]: unknown;
}

export function qrCommand(): Command {
  return withTenantOptions(new Command("qr").argument("<code>", linkArgument))
    .option("--out <file>", "write an .svg or .png file instead of printing the code")
    .option("--size <pixels>", "width and height")
    .option("--margin <squares>", "empty border around the code")
    .option("--dark <colour>", "such as #1a2b3c")
    .option("--light <colour>", "such as #ffffff, or #ffffff00 for none")
    .option("--level <letter>", "error correction: L, M, Q or H")
    .description("print a link's QR code, or write it to a file")
    .addHelpText("after", "\nExample:\n  $ quicklink link qr sale --out sale.png --size 1024")
    .action((code: string, options: QrCommandOptions) =>
      withTenant(options, async (core, tenant) => {
        const link = await findLink(core, tenant, code);
        const { shortUrl } = showOf(core, link);
        const encoded = scannedUrl(core.config.baseUrl, link);
        if (options.out === undefined) printDrawing(`${drawOnTerminal(encoded)}${shortUrl}`);
        else await write(encoded, options.out, options);
      }),
    );
}

async function write(
  text: string,
  path: string,
  { size, margin, dark, light, level }: QrCommandOptions,
): Promise<void> {
  const format = /\.(svg|png)$/i.exec(path)?.[1]?.toLowerCase();
  if (format === undefined) throw new OperatorError(`${path} must end in .svg or .png.`, 2);
  const parsed = qrOptions.safeParse({ format, size, margin, dark, light, level });
  if (!parsed.success) throw invalidInput(parsed.error, "code");
  const bytes = await drawQr(text, parsed.data);
  try {
    writeFileSync(path, bytes);
  } catch (error) {
    throw new OperatorError(`Cannot write ${path}: ${messageOf(error)}.`);
  }
  say(`${path}: ${text}`);
}
