import { dayMs } from "../base/clock.ts";
import type { Pages } from "../http/pagination.ts";
import type { Api } from "../http/route.ts";
import { createAccountData } from "../people/account-data.ts";
import { accountDataRoutes } from "../people/account-data-api.ts";
import type { SignedIn } from "../people/sessions.ts";
import { accountWorkspaceRoutes } from "../people/workspaces/account-workspaces-api.ts";
import { workspaceExportRoutes } from "../people/workspaces/export-api.ts";
import { createInvitations, type WithToken } from "../people/workspaces/invitations.ts";
import { invitationRoutes } from "../people/workspaces/invitations-api.ts";
import { createJoin } from "../people/workspaces/join.ts";
import { joinRoutes } from "../people/workspaces/join-api.ts";
import { type ChangedMember, createMembers } from "../people/workspaces/members.ts";
import { memberRoutes } from "../people/workspaces/members-api.ts";
import { workspaceRoutes } from "../people/workspaces/workspace-api.ts";
import { createWorkspaces } from "../people/workspaces/workspaces.ts";
import type { Tenant } from "../tenants/tenants.ts";
import type { ApiParts } from "./http.ts";
import type { OpenPeople } from "./people.ts";
import type { Wiring } from "./wiring.ts";

/** Wires workspaces: their members, invitations and what their owners do with them. */
export interface WorkspaceParts extends Pick<ApiParts, "background" | "cache" | "jobs" | "guesses"> {
  readonly pages: Pages;
  readonly people: OpenPeople;
  readonly requireFresh: (signedIn: SignedIn) => void;
}

export function openWorkspaceRoutes({ core }: Wiring, parts: WorkspaceParts): ((api: Api) => void)[] {
  const { config, sql, clock, sessions, tenants, people, personTokens: tokens } = core;
  const { background, cache, guesses, pages, requireFresh } = parts;
  const { mails, passwords, companies, signIn, requests, later, proofs, cookie } = parts.people;
  const members = createMembers({ sql, clock, sessions });
  const invitations = createInvitations({ sql, clock, sessions });
  const workspaces = createWorkspaces({ sql, clock, sessions, publish: cache.publish });
  const join = createJoin({ sql, invitations, people, tokens, passwords, companies, signIn, mails });
  const data = createAccountData({ sql, clock, sessions });

  const tellMember = ({ name: workspace }: Tenant, { member, after: role }: ChangedMember): Promise<void> =>
    mails.send("role", member.email, { workspace, role, url: mails.pageUrl("account") });

  async function mailInvitation({ name: workspace }: Tenant, to: string, { invitation, token }: WithToken) {
    if (!mails.isSetUp) return false;
    const { role, inviter, createdAt, expiresAt } = invitation;
    const days = Math.max(1, Math.floor((expiresAt - createdAt) / dayMs));
    const url = mails.pageUrl("invitation", token);
    await mails.send("invitation", to, { workspace, inviter: inviter?.name ?? null, role, url, days });
    return true;
  }

  const linkFor = (token: string) => mails.pageUrl("invitation", token);
  const creators = config.QL_WORKSPACES;
  return [
    (api) => workspaceRoutes(api, { workspaces, members, tenants, requireFresh, tellMember }),
    (api) => workspaceExportRoutes(api, { clock, part: background.exportPart }),
    (api) => memberRoutes(api, { members, pages, tellMember }),
    (api) => invitationRoutes(api, { invitations, pages, clock, linkFor, mail: mailInvitation }),
    (api) => joinRoutes(api, { join, sessions, guesses, requests, companies, later }),
    (api) => accountDataRoutes(api, { data, people, sessions, workspaces, proofs, cookie }),
    (api) => accountWorkspaceRoutes(api, { workspaces, members, sessions, creators }),
  ];
}
