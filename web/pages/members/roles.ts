/** For choices only: `src/people/roles.ts` decides. */
export const roles = ["viewer", "member", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

/** The roles that somebody with this one may give and take. */
export const grantable = (own: Role): readonly Role[] =>
  own === "owner" ? roles : own === "admin" ? roles.filter((role) => role !== "owner") : [];
