import { useRouteContext } from "@tanstack/react-router";

/** The workspace that the address names, and what its person may do there. The API decides; this only hides what it refuses. */
export interface CurrentWorkspace {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly role: "viewer" | "member" | "admin" | "owner";
  can(permission: Permission): boolean;
}

export type Permission =
  | "links:read"
  | "links:write"
  | "files:read"
  | "files:write"
  | "stats:read"
  | "usage:read"
  | "email:read"
  | "email:send"
  | "admin"
  | "owner";

export function useWorkspace(): CurrentWorkspace {
  const { workspace } = useRouteContext({ from: "/w/$workspace" });
  const { id, slug, name, role, permissions } = workspace;
  return { id, slug, name, role, can: (permission) => permissions.includes(permission) };
}
