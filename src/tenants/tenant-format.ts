import type { Form } from "../cache/tier.ts";
import { keyOfTenantChange } from "./known-tenants.ts";
import { parseOverrides, type TenantRecord } from "./tenants.ts";

/**
 * A tenant as stored in the shared cache, beside the links: its fields under their own names. There are few tenants for
 * many links, so nothing is gained by shorter ones.
 */
export const tenantForm: Omit<Form<TenantRecord>, "name"> = {
  keysOf(change) {
    const key = keyOfTenantChange(change);
    return key === undefined ? [] : [key];
  },
  toJson: (record) => record,

  fromJson(json) {
    if (typeof json !== "object" || json === null) throw new Error("not a tenant as this version writes it");
    const names = Object.keys(json);
    // Ignoring what a newer version says about a tenant would let it do what it must not.
    const isWhole = names.length === fields.length && fields.every((name) => name in json && checks[name](json));
    if (!isWhole) throw new Error("a tenant with other fields than this version knows of");
    return json as TenantRecord;
  },
};

type Fields = { readonly [Name in keyof TenantRecord]: unknown };
type Check = (json: Partial<Fields>) => boolean;

/** A field without a row does not compile. */
const checks: { readonly [Name in keyof TenantRecord]: Check } = {
  id: ({ id }) => typeof id === "string",
  slug: ({ slug }) => typeof slug === "string",
  name: ({ name }) => typeof name === "string",
  plan: ({ plan }) => typeof plan === "string",
  overrides: ({ overrides }) => parseOverrides(JSON.stringify(overrides ?? null)) !== undefined,
  defaultDomain: ({ defaultDomain }) => defaultDomain === null || typeof defaultDomain === "string",
  createdAt: ({ createdAt }) => Number.isSafeInteger(createdAt),
  suspended: ({ suspended }) => suspended === null || typeof suspended === "string",
  deleteAt: ({ deleteAt }) => deleteAt === null || Number.isSafeInteger(deleteAt),
  clickFacts: ({ clickFacts }) => typeof clickFacts === "boolean",
};

const fields = Object.keys(checks) as (keyof TenantRecord)[];
