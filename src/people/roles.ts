import type { StoredRole } from "../sql/schema.ts";
import type { Scope } from "../tenants/keys.ts";

/**
 * What a member of a workspace may do: the only table of it. A role has all permissions of the roles before it. `owner` is
 * what keys can never have: the workspace itself, and its owners.
 */
export const roles = ["viewer", "member", "admin", "owner"] as const satisfies readonly StoredRole[];
export type Role = (typeof roles)[number];

export type Permission = Scope | "owner";

const added: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ["links:read", "files:read", "stats:read", "usage:read", "email:read"],
  member: ["links:write", "files:write", "email:send"],
  admin: ["admin"],
  owner: ["owner"],
};

const permissions = Object.fromEntries(
  roles.map((role, place) => [role, new Set(roles.slice(0, place + 1).flatMap((below) => added[below]))]),
) as unknown as Readonly<Record<Role, ReadonlySet<Permission>>>;

export const permissionsOf = (role: Role): Permission[] => [...permissions[role]];

export const roleAllows = (role: Role, permission: Permission): boolean => permissions[role].has(permission);

/** Whether somebody with this role may give another one, change it, or take it away: only owners make and unmake owners. */
export const mayGrant = (own: Role, other: Role): boolean =>
  roleAllows(own, "admin") && (other !== "owner" || own === "owner");
