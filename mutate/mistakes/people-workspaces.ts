import type { Mistakes } from "../mistake.ts";

const members = ["test/conformance/members.test.ts"];
const invitations = ["test/conformance/invitations.test.ts"];
const workspaces = ["test/conformance/workspaces.test.ts"];
const erase = ["test/conformance/erase-workspaces.test.ts"];
const data = ["test/conformance/account-data.test.ts"];

/** Of workspaces: members, roles, invitations, keys of members, deletion, and the end of an account. */
export const workspaceMistakes: Mistakes = {
  "admin-makes-owners": {
    file: "people/roles.ts",
    from: 'roleAllows(own, "admin") && (other !== "owner" || own === "owner");',
    to: 'roleAllows(own, "admin");',
    tests: members,
    only: "only owners",
  },
  "last-owner-leaves": {
    file: "people/workspaces/members.ts",
    from: 'if (member.role === "owner") await requireOtherOwner(trx, tenant, person);',
    to: "",
    tests: members,
    only: "an owner remains",
  },
  "disabled-owner-counts": {
    file: "people/workspaces/members.ts",
    from: '    .where("people.disabled_at", "is", null)\n',
    to: "",
    tests: members,
    only: "an owner remains",
  },
  "role-of-when-the-call-began": {
    file: "people/workspaces/current-role.ts",
    from: 'if (row === undefined) throw new Problem("forbidden", "You are no longer a member of this workspace.");',
    to: 'if (row === undefined) return "owner";',
    tests: members,
    only: "two remove each other",
  },
  "revoked-key-still-grants": {
    file: "people/workspaces/current-role.ts",
    from: "?.revoked_at === null) return",
    to: "?.revoked_at !== undefined) return",
    tests: members,
    only: "with a key that was revoked",
  },
  "keys-of-a-member-forgotten": {
    file: "people/workspaces/keys-of-member.ts",
    from: 'if (ids.length === 0 || keys === "keep") return [];',
    to: 'if (ids.length === 0 || keys !== "revoke") return [];',
    tests: members,
    only: "keys",
  },
  "transfer-keeps-both-owners": {
    file: "people/workspaces/members.ts",
    from: "await setRole(trx, tenant, by, role);",
    to: "",
    tests: members,
    only: "hand",
  },
  "invitation-for-another-mailbox": {
    file: "people/workspaces/invitations.ts",
    from: "if (open.mailbox !== null && open.mailbox !== mailbox) {",
    to: "if (open.mailbox === mailbox.toUpperCase()) {",
    tests: invitations,
    only: "only the account with this mailbox",
  },
  "invitation-works-twice": {
    file: "people/workspaces/invitations.ts",
    from: 'own.deleteFrom("invitations").where("id", "=", open.id).returning(["id", "role", "inviter_id"]);',
    to: 'own.selectFrom("invitations").where("id", "=", open.id).select(["id", "role", "inviter_id"]);',
    tests: invitations,
    only: "member once",
  },
  "expired-invitation-works": {
    file: "people/workspaces/invitations.ts",
    from: "row.delete_at !== null || row.expires_at <= clock.now()) return undefined;",
    to: "row.delete_at !== null) return undefined;",
    tests: invitations,
    only: "ends: when it expires",
  },
  "invitation-to-a-deleted-workspace": {
    file: "people/workspaces/invitations.ts",
    from: "if (row === undefined || row.delete_at !== null || row.expires_at",
    to: "if (row === undefined || row.expires_at",
    tests: invitations,
    only: "ends: when it expires",
  },
  "old-token-of-a-resent-invitation": {
    file: "people/workspaces/invitations.ts",
    from: "...{ hash: hashOf(token), created_at: now, expires_at: now + before.expiresAt - before.createdAt },",
    to: "...{ created_at: now, expires_at: now + before.expiresAt - before.createdAt },",
    tests: invitations,
    only: "sent again has a new token",
  },
  "invitations-outlive-their-inviter": {
    file: "people/workspaces/drop-invitations.ts",
    from: "const lost = role === null ? roles : roles.filter((other) => !mayGrant(role, other));",
    to: "const lost = role === null ? [] : roles.filter((other) => !mayGrant(role, other));",
    tests: invitations,
    only: "ends with it",
  },
  "admin-invites-owners": {
    file: "people/workspaces/invitations.ts",
    from: "requireGrant(own, role);\n        if (to !== null)",
    to: "if (to !== null)",
    tests: invitations,
    only: "follows the role",
  },
  "admin-deletes-a-workspace": {
    file: "people/workspaces/workspaces.ts",
    from: 'if (isOperator || (await roleOf(sql, trx, tenant, actor)) === "owner") return;',
    to: 'if (isOperator || (await roleOf(sql, trx, tenant, actor)) !== "viewer") return;',
    tests: workspaces,
    only: "owners and the operator only",
  },
  "restored-when-its-time-is-over": {
    file: "people/workspaces/workspaces.ts",
    from: "if (row.delete_at !== null && row.delete_at <= clock.now()) throw noSuchWorkspace();",
    to: "",
    tests: workspaces,
    only: "owners and the operator only",
  },
  "deleted-workspace-not-announced": {
    file: "people/workspaces/workspaces.ts",
    from: "await outdate(trx, [tenant]);",
    to: "",
    tests: workspaces,
    only: "stops at once",
  },
  "erased-before-its-time": {
    file: "people/workspaces/erase.ts",
    from: '.where("delete_at", "<=", clock.now());',
    to: '.where("delete_at", ">=", 0);',
    tests: erase,
  },
  "erased-with-its-files-in-the-storage": {
    file: "people/workspaces/erase.ts",
    from: "if (!(await condemnFiles(sql, id))) continue;",
    to: "await condemnFiles(sql, id);",
    tests: erase,
  },
  "history-outlives-its-workspace": {
    file: "people/workspaces/erase.ts",
    from: '    ["history", "id"],\n',
    to: "",
    tests: erase,
  },
  "address-stays-with-the-workspace": {
    file: "people/account-data.ts",
    from: "await dropAddress(sql, trx, id);",
    to: "",
    tests: data,
    only: "leaves the history",
  },
  "account-deleted-twice": {
    file: "people/account-data.ts",
    from: "await requireThere(trx, id);",
    to: "",
    tests: data,
    only: "is deleted once",
  },
  "former-address-stays": {
    file: "people/account-data.ts",
    from: "...former.map(mailboxOf)]",
    to: "...former.slice(0, 0).map(mailboxOf)]",
    tests: data,
    only: "leaves the history",
  },
  "deleted-person-gets-a-workspace": {
    file: "people/workspaces/workspaces.ts",
    from: "if ((await sql.forUpdate(row).executeTakeFirst()) === undefined) {",
    to: "if ((await sql.forUpdate(row).execute()) === undefined) {",
    tests: data,
    only: "is told so",
  },
};
