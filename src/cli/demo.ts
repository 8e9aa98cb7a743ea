import { Command } from "commander";
import { systemClock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import type { Core } from "../core.ts";
import { byCommand, recordHistory } from "../history/history.ts";
import { requireEmail } from "../people/people.ts";
import { eraseWorkspaces } from "../people/workspaces/erase.ts";
import { ofTenant } from "../sql/tenant-db.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { withCore } from "./core.ts";
import { fillDemo } from "./demo/fill.ts";
import { say } from "./print.ts";
import { createProgress } from "./progress.ts";
import { terminal } from "./terminal.ts";
import { createAccount, passwordLink } from "./user.ts";

interface DemoOptions {
  readonly reset?: true;
  readonly owner?: string;
  readonly seed: string;
  readonly days: string;
}

const slug = "demo";
const firstOwner = "demo@example.com";

/** `quicklink demo`: a workspace to look at. */
export function demoCommand(): Command {
  return new Command("demo")
    .option("--reset", "delete the workspace demo with everything in it, and create it again")
    .option("--owner <email>", "person who becomes its owner; an account is created if there is none")
    .option("--seed <number>", "the same number gives the same clicks on the same day", "1")
    .option("--days <number>", "days of clicks, 1 to 365", "365")
    .addHelpText(
      "after",
      `\nCreates the workspace "${slug}" with about 60 links and a year of clicks. Without --owner, a server without any account gets one: ${firstOwner}.`,
    )
    .action((options: DemoOptions) => withCore((core) => run(core, options)));
}

async function run(core: Core, options: DemoOptions): Promise<void> {
  const seed = Number(options.seed);
  if (!Number.isInteger(seed) || seed < 0) throw new OperatorError("--seed must be a whole number.", 2);
  const days = Number(options.days);
  if (!Number.isInteger(days) || days < 1 || days > 365) throw new OperatorError("--days must be from 1 to 365.", 2);
  const owner = options.owner === undefined ? undefined : requireEmail(options.owner);
  const progress = createProgress(terminal().stderr, systemClock.elapsed);
  try {
    if (options.reset) await reset(core);
    const before = await core.tenants.bySlug(slug);
    if (before === undefined) {
      const tenant = await core.tenants.create(slug, "Demo", byCommand);
      // Half a demo would be taken for a whole one the next time.
      const { links, clicks } = await fillDemo(core, tenant, { seed, days }, progress.show).catch(
        async (error: unknown) => {
          await reset(core);
          throw error;
        },
      );
      progress.end();
      const [some, many] = [links.toLocaleString("en"), clicks.toLocaleString("en")];
      say(`Created the workspace "${slug}" with ${some} links and ${many} clicks of the last ${days} days.`);
    } else say(`The workspace "${slug}" exists already. To create it again: quicklink demo --reset`);
    const tenant = await core.tenants.bySlug(slug);
    if (tenant !== undefined) await addOwner(core, tenant, owner);
  } finally {
    progress.end();
  }
}

/** With its clicks: the job that deletes old ones finds those of workspaces that are gone. */
async function reset(core: Core): Promise<void> {
  const tenant = await core.tenants.bySlug(slug);
  if (tenant === undefined) return;
  await core.sql.db.updateTable("tenants").set({ delete_at: core.clock.now() }).where("id", "=", tenant.id).execute();
  await eraseWorkspaces(core);
  if ((await core.tenants.bySlug(slug)) !== undefined) {
    throw new OperatorError(
      "Its files are still being deleted. Run the command again in a minute, with a running server.",
    );
  }
}

/** Nobody is made its owner who did not ask for it, except on a server without any account. */
async function addOwner(core: Core, tenant: Tenant, email: string | undefined): Promise<void> {
  const isNew = await core.setUp.isOpen();
  if (email === undefined && !isNew) return;
  const address = email ?? firstOwner;
  const known = await core.people.byEmail(address);
  if (known !== undefined) {
    await addMember(core, tenant, known.person.id);
    return say(`${known.person.email} is an owner of the workspace "${slug}". Sign in: ${core.config.baseUrl}/app`);
  }
  const account = await createAccount(core, address, { operator: isNew, workspace: slug, role: "owner" });
  say(
    `Created the account ${account.person.email}, an owner of the workspace "${slug}".\n${await passwordLink(core, account)}`,
  );
}

async function addMember(
  { sql, sessions, clock }: Core,
  tenant: Tenant,
  person: Parameters<Core["people"]["byId"]>[0],
) {
  const published = await sql.transaction(async (trx) => {
    const own = ofTenant(trx, tenant.id);
    const role = { role: "owner" as const };
    const published = await sessions.touch(trx, [person]);
    await own
      .insertInto("members")
      .values({ person_id: person, ...role, created_at: clock.now() })
      .onConflict((conflict) => conflict.columns(["tenant_id", "person_id"]).doUpdateSet(role))
      .execute();
    await recordHistory(trx, clock, {
      ...{ tenant: tenant.id, actor: byCommand, action: "member.add", subject: { kind: "person", id: person } },
      after: role,
    });
    return published;
  });
  published();
}
