import { Command, InvalidArgumentError } from "commander";
import { dayMs } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { parseId } from "../base/ids.ts";
import { pagesOf } from "../base/pages.ts";
import { byCommand } from "../history/history.ts";
import { showKey } from "../tenants/api.ts";
import { type ApiKey, keyPerMinuteMost, type Scope, scopes } from "../tenants/keys.ts";
import { requireTenant, withCore } from "./core.ts";
import { type OutputFormat, printJson, printPages, say, shownPages } from "./print.ts";

interface TenantOption extends OutputFormat {
  readonly tenant: string;
}

interface CreateOptions extends TenantOption {
  readonly scopes: Scope[];
  readonly days?: number;
  readonly perMinute?: number;
}

export function keyCommand(): Command {
  const command = new Command("key");
  command
    .command("create")
    .argument("<name>", "name, such as what the key is for")
    .option("--tenant <slug>", "workspace that owns the key", "default")
    .option("--scopes <list>", `any of ${scopes.join(", ")}`, parseScopes, [...scopes])
    .option("--days <n>", "days until the key expires; default: never", parseDays)
    .option("--per-minute <n>", "API calls per minute; default: the workspace's limit", parsePerMinute)
    .option("--json", "print as JSON")
    .description("create an API key; it is shown only once")
    .addHelpText("after", "\nExample:\n  $ quicklink key create website --scopes links:read,links:write --days 90")
    .action((name: string, options: CreateOptions) =>
      withCore(async (core) => {
        const tenant = await requireTenant(core, options.tenant);
        const expiresAt = options.days === undefined ? null : core.clock.now() + options.days * dayMs;
        const { scopes, perMinute: apiPerMinute = null } = options;
        const { key, secret } = await core.keys.create(tenant.id, { name, scopes, expiresAt, apiPerMinute }, byCommand);
        if (options.json) printJson({ ...showKey(key), secret });
        else say(secret);
      }),
    );
  command
    .command("list")
    .option("--tenant <slug>", "workspace whose keys to list", "default")
    .option("--json", "print as JSON")
    .description("list API keys")
    .action((options: TenantOption) =>
      withCore(async (core) => {
        const tenant = await requireTenant(core, options.tenant);
        const keys = pagesOf<ApiKey>((limit, last) => core.keys.list(tenant.id, limit, last?.id));
        const columns = ["id", "name", "hint", "scopes", "lastUsedAt", "expiresAt", "revokedAt", "apiPerMinute"];
        await printPages(
          shownPages(keys, showKey),
          columns,
          options,
          "No API keys yet. Create one: quicklink key create NAME",
        );
      }),
    );
  command
    .command("revoke")
    .argument("<id>", "key ID (key_…)")
    .option("--tenant <slug>", "workspace that owns the key", "default")
    .description("revoke an API key immediately")
    .action((text: string, options: TenantOption) =>
      withCore(async (core) => {
        const tenant = await requireTenant(core, options.tenant);
        const id = parseId("key", text);
        if (!id || !(await core.keys.revoke(tenant.id, id, byCommand))) {
          throw new Problem(
            "not_found",
            `Workspace "${tenant.slug}" has no API key ${text}. To list keys: quicklink key list`,
          );
        }
        say(`Revoked ${id}.`);
      }),
    );
  return command;
}

function parseScopes(text: string): Scope[] {
  return text.split(",").map((name) => {
    const scope = scopes.find((one) => one === name.trim());
    if (!scope) throw new InvalidArgumentError(`Unknown scope "${name}". Scopes: ${scopes.join(", ")}.`);
    return scope;
  });
}

function parseDays(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) === 0)
    throw new InvalidArgumentError("Must be a number of days, at least 1.");
  return Number(text);
}

function parsePerMinute(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > keyPerMinuteMost) {
    throw new InvalidArgumentError(`Must be a number from 1 to ${keyPerMinuteMost}.`);
  }
  return value;
}
