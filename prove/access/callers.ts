/** Everybody who may call: people of each role, keys of each scope, an operator, a stranger, and nobody. */
import { must, query, type Reply, type Site } from "../../test/e2e/servers.ts";
import { makePerson, openBrowser, type TestPerson } from "../../test/ground/people.ts";
import { type Right, rolesOf, scopesOf, type Who } from "./expected.ts";

export interface Caller {
  readonly name: string;
  readonly kind: "person" | "key" | "nobody";
  /** In the workspace. */
  readonly rights: ReadonlySet<Right>;
  readonly isMember: boolean;
  readonly isOperator: boolean;
  /** About a workspace, if named. A caller who may be signed out by the call is a new one each time. */
  call(method: string, path: string, body: unknown, workspace: string, isFresh: boolean): Promise<Reply>;
}

export function isAllowed({ kind, rights, isOperator }: Caller, who: Who): boolean {
  if (who === "everybody") return true;
  if (who === "signed in") return kind === "person";
  return who === "operators" ? isOperator : rights.has(who);
}

/** The routes that are hard to undo ask for a new proof: they must not happen here. */
const hourMs = 3_600_000;

export async function allCallers(site: Site, slug: string): Promise<Caller[]> {
  const roles = Object.keys(rolesOf);
  const people = roles.map((role, place) =>
    personOf(
      site,
      role,
      { roles: { [slug]: role as "viewer" } },
      roles.slice(0, place + 1).flatMap((one) => rolesOf[one] ?? []),
    ),
  );
  const others = [
    personOf(site, "operator", { operator: true }, []),
    personOf(site, "stranger", { roles: { elsewhere: "owner" } }, []),
  ];
  const keys = Object.entries(scopesOf).map(async ([scope, rights]): Promise<Caller> => {
    const made = await site.cli("key", "create", `only ${scope}`, "--tenant", slug, "--scopes", scope);
    const key = must(made).trim();
    return {
      ...{ name: `key ${scope}`, kind: "key", rights: new Set(rights), isMember: true, isOperator: false },
      call: (method, path, body) => site.call(method, path, { key, ...sent(method, body) }),
    };
  });
  const browser = openBrowser(site);
  const nobody: Caller = {
    ...{ name: "nobody", kind: "nobody", rights: new Set(), isMember: false, isOperator: false },
    call: (method, path, body, workspace) => browser.call(method, path, { workspace, ...sent(method, body) }),
  };
  return [...(await Promise.all([...people, ...others, ...keys])), nobody];
}

async function personOf(
  site: Site,
  name: string,
  about: Parameters<typeof makePerson>[1],
  rights: readonly Right[],
): Promise<Caller> {
  const make = async (): Promise<TestPerson> => {
    const person = await makePerson(site, { ...about, name });
    await query(site.env, `update sessions set proved_at = proved_at - ${hourMs} where person_id = '${person.id}'`);
    return person;
  };
  const lasting = await make();
  return {
    ...{
      name,
      kind: "person",
      rights: new Set(rights),
      isMember: rights.length > 0,
      isOperator: about?.operator ?? false,
    },
    async call(method, path, body, workspace, isFresh) {
      const person = isFresh ? await make() : lasting;
      return await person.call(method, path, { workspace, ...sent(method, body) });
    },
  };
}

const sent = (method: string, body: unknown) => (method === "GET" || body === undefined ? {} : { body });
