import type { Control } from "../proof.ts";

export const controls: readonly Control[] = [
  {
    name: "a viewer who may write",
    edits: [{ file: "people/roles.ts", from: 'viewer: ["links:read",', to: 'viewer: ["links:write", "links:read",' }],
    plays: ["own"],
    breaks: ["own.leaks"],
  },
  {
    name: "an admin who is an owner",
    edits: [{ file: "people/roles.ts", from: 'admin: ["admin"],', to: 'admin: ["admin", "owner"],' }],
    plays: ["own"],
    breaks: ["own.leaks"],
  },
  {
    name: "a key that has every scope",
    edits: [
      {
        file: "tenants/keys.ts",
        from: 'scopes.includes(scope) || scopes.includes("admin")',
        to: 'scopes.length > 0 || scopes.includes(scope) || scopes.includes("admin")',
      },
    ],
    plays: ["own"],
    breaks: ["own.leaks"],
  },
  {
    name: "an operator's route for everybody who is signed in",
    edits: [{ file: "http/route.ts", from: 'if (access === "operator") requireOperator(c.get("signedIn"));', to: "" }],
    plays: ["own"],
    breaks: ["own.leaks"],
  },
  {
    name: "a route that was opened with another scope",
    edits: [
      {
        file: "people/workspaces/invitations-api.ts",
        from: 'list: route(\n    "admin",',
        to: 'list: route(\n    "links:read",',
      },
    ],
    plays: ["own"],
    breaks: ["own.leaks"],
  },
  {
    name: "a workspace that is taken by its name alone",
    edits: [
      {
        file: "http/auth.ts",
        from: "if (found === undefined) throw noWorkspace(named);\n    return found;",
        to: "return found ?? (memberships[0] as Membership);",
      },
    ],
    plays: ["foreign_workspace"],
    breaks: ["foreign_workspace.leaks"],
  },
  {
    name: "a session of anybody that can be ended",
    edits: [
      {
        file: "people/sessions.ts",
        from: 'let ended = trx.deleteFrom("sessions").where("person_id", "=", person);',
        to: 'let ended = trx.deleteFrom("sessions").where("person_id", "!=", "");',
      },
    ],
    plays: ["foreign_things"],
    breaks: ["foreign_things.leaks", "foreign_things.changed"],
  },
  {
    name: "queries without their tenant",
    edits: [
      {
        file: "sql/tenant-db.ts",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the program
        from: 'return this.#db.selectFrom(table as "links").where(`${alias}.tenant_id`, "=", this.#tenant);',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the program
        to: 'return this.#db.selectFrom(table as "links").where(`${alias}.tenant_id`, "!=", `${this.#tenant}x`);',
      },
    ],
    plays: ["foreign_things"],
    breaks: ["foreign_things.leaks", "foreign_things.changed"],
  },
];
