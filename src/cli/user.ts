import { Command, Option } from "commander";
import { toIso } from "../base/clock.ts";
import { invalid, OperatorError, Problem } from "../base/errors.ts";
import { newId, parseId } from "../base/ids.ts";
import { pagesOf } from "../base/pages.ts";
import type { Core } from "../core.ts";
import { checkMail } from "../email/outbox/outbox.ts";
import { createEmailStore } from "../email/outbox/store.ts";
import { byCommand, recordHistory } from "../history/history.ts";
import { showPerson, showSession } from "../people/account-api.ts";
import { type Account, nameMostChars, requireEmail } from "../people/people.ts";
import { createPersonMails, type PersonMails } from "../people/person-mails.ts";
import { type Role, roles } from "../people/roles.ts";
import type { Publishing } from "../people/sessions.ts";
import { resetLink } from "../people/sign-in/reset.ts";
import { ofTenant } from "../sql/tenant-db.ts";
import { quietLog, requireTenant, withCore } from "./core.ts";
import { type OutputFormat, printFields, printPages, printRows, say, shownPages } from "./print.ts";

/** `quicklink user`: accounts, for the operator on the machine. Servers see every change within the promise of an edit. */
export function userCommand(): Command {
  const command = new Command("user");
  addCreate(command);
  addList(command);
  addSwitches(command);
  addResets(command);
  addSessions(command);
  return command;
}

interface CreateOptions extends OutputFormat {
  readonly name?: string;
  readonly operator?: boolean;
  readonly workspace?: string;
  readonly role: Role;
}

function addCreate(command: Command): void {
  command
    .command("create")
    .argument("<email>", "email address")
    .option("--name <text>", "display name; default: the address up to the @")
    .option("--operator", "operator of this server")
    .option("--workspace <slug>", "workspace to become a member of")
    .addOption(new Option("--role <role>", "role in that workspace").choices([...roles]).default("member"))
    .option("--json", "print as JSON")
    .description("create an account; prints a link with which its person chooses a password")
    .addHelpText("after", "\nExample:\n  $ quicklink user create ann@example.com --workspace default --role owner")
    .action((email: string, options: CreateOptions) =>
      withCore(async (core) => {
        const account = await createAccount(core, requireEmail(email), options);
        const link = await linkFor(core, account);
        if (options.json) return printFields({ ...showPerson(account.person), link }, options);
        say(`Created ${account.person.id}. ${linkText(link)}`);
      }),
    );
}

type AccountOptions = Pick<CreateOptions, "name" | "operator" | "workspace" | "role">;

export async function createAccount(core: Core, email: string, options: AccountOptions): Promise<Account> {
  const { sql, people, sessions, clock } = core;
  const name = options.name ?? email.slice(0, email.lastIndexOf("@"));
  if (name.trim() === "" || name.length > nameMostChars || /\p{Cc}/u.test(name)) {
    throw invalid("name", "bad_name", `Must be one line of at most ${nameMostChars} characters.`);
  }
  const tenant = options.workspace === undefined ? undefined : await requireTenant(core, options.workspace);
  let published: Publishing = () => {};
  const id = await sql.transaction(async (trx) => {
    const fields = { email, name, passwordHash: null, isVerified: false, isOperator: options.operator ?? false };
    const person = await people.createIn(trx, fields, byCommand);
    published = await sessions.touch(trx, [person]);
    if (tenant !== undefined) {
      const member = { person_id: person, role: options.role, created_at: clock.now() };
      await ofTenant(trx, tenant.id).insertInto("members").values(member).execute();
      await recordHistory(trx, clock, {
        ...{ tenant: tenant.id, actor: byCommand, action: "member.add", subject: { kind: "person", id: person } },
        after: { role: options.role },
      });
    }
    return person;
  });
  published();
  return await requireAccount(core, id);
}

function addList(command: Command): void {
  command
    .command("list")
    .option("--json", "print as JSON")
    .description("list people")
    .action((format: OutputFormat) =>
      withCore(({ people }) =>
        printPages(
          shownPages(
            pagesOf<Account>((limit, last) => people.list(limit, last?.person.id)),
            showAccount,
          ),
          ["id", "email", "name", "operator", "hasSecondFactor", "createdAt", "disabledAt"],
          format,
          "No people yet. Create the first account: quicklink setup",
        ),
      ),
    );
}

const showAccount = ({ person, disabledAt }: Account) => ({
  ...showPerson(person),
  disabledAt: disabledAt === null ? null : toIso(disabledAt),
});

function addSwitches(command: Command): void {
  for (const [name, isDisabled, done] of [
    ["disable", true, "Disabled"],
    ["enable", false, "Enabled"],
  ] as const) {
    command
      .command(name)
      .argument("<person>", "email address or ID (per_…)")
      .description(isDisabled ? "disable an account and end its sessions" : "enable a disabled account")
      .action((named: string) =>
        withCore(async (core) => {
          const { person } = await requireAccount(core, named);
          await core.people.setDisabled(person.id, isDisabled, byCommand);
          say(`${done} ${person.id}.`);
        }),
      );
  }
}

function addResets(command: Command): void {
  command
    .command("reset-password")
    .argument("<person>", "email address or ID (per_…)")
    .option("--json", "print as JSON")
    .description("print a link with which the person chooses a new password")
    .action((named: string, format: OutputFormat) =>
      withCore(async (core) => {
        const account = await requireAccount(core, named);
        if (account.disabledAt !== null) {
          throw new OperatorError(`${account.person.id} is disabled. Enable it first: quicklink user enable`);
        }
        const link = await linkFor(core, account);
        if (format.json) printFields({ id: account.person.id, link }, format);
        else say(linkText(link));
      }),
    );
  command
    .command("reset-2fa")
    .argument("<person>", "email address or ID (per_…)")
    .description("remove the second factor of a person who has lost it")
    .action((named: string) =>
      withCore(async (core) => {
        const { person } = await requireAccount(core, named);
        if (!(await core.people.removeSecondFactor(person.id, byCommand))) {
          return say(`${person.id} has no second factor.`);
        }
        const mails = mailsOf(core);
        const what = "second-factor-reset" as const;
        await mails.send("account", person.email, { what, at: core.clock.now(), url: mails.pageUrl("account") });
        say(`Removed the second factor of ${person.id}.`);
      }),
    );
}

function addSessions(command: Command): void {
  command
    .command("sessions")
    .argument("<person>", "email address or ID (per_…)")
    .option("--end", "end all of them")
    .option("--json", "print as JSON")
    .description("list the sessions of a person, or end them")
    .action((named: string, options: OutputFormat & { end?: boolean }) =>
      withCore(async ({ sessions, ...core }) => {
        const { person } = await requireAccount({ ...core, sessions }, named);
        if (options.end) {
          const ended = await sessions.end(person.id, "all", byCommand);
          return options.json ? printFields({ ended }, options) : say(`Ended ${ended} sessions.`);
        }
        const shown = (await sessions.list(person.id)).map((session) => showSession(session));
        printRows(shown, ["id", "device", "method", "createdAt", "lastUsedAt", "expiresAt"], options, "No sessions.");
      }),
    );
}

async function requireAccount({ people }: Core, named: string): Promise<Account> {
  const id = parseId("person", named);
  const account = await (id === undefined ? people.byEmail(named) : people.byId(id));
  if (account) return account;
  throw new Problem("not_found", `There is no account ${named}. To list people: quicklink user list`);
}

const linkFor = ({ personTokens, sql, config }: Core, { person }: Account): Promise<string> =>
  resetLink({ tokens: personTokens, db: sql.db, baseUrl: config.baseUrl }, person.id, false);

/** How a person without a password signs in for the first time. */
export const passwordLink = async (core: Core, account: Account): Promise<string> =>
  linkText(await linkFor(core, account));

const linkText = (link: string): string => `Choose a password here (works once, for an hour):

  ${link}
`;

/** Through the outbox: a running server sends it. */
function mailsOf({ config, sql, clock }: Core): PersonMails {
  const store = createEmailStore(sql);
  const outbox = {
    async enqueue(mail: Parameters<typeof checkMail>[0]) {
      const { id } = await store.insert({ ...checkMail(mail), id: newId("email", clock) });
      return { kind: "queued", id } as const;
    },
  };
  const { baseUrl, SMTP_URL } = config;
  return createPersonMails({ outbox: SMTP_URL === undefined ? undefined : outbox, baseUrl, log: quietLog() });
}
