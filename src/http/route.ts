import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { Problem, type ProblemCode, problems } from "../base/errors.ts";
import type { Actor } from "../history/history.ts";
import type { Once } from "../idempotency/derived-ids.ts";
import { type Permission, type Role, roleAllows } from "../people/roles.ts";
import type { SignedIn } from "../people/sessions.ts";
import { type ApiKey, allows, type Scope, scopes } from "../tenants/keys.ts";
import type { Tenant } from "../tenants/tenants.ts";
import type { RunOnce } from "./idempotency.ts";
import { invalidInput } from "./problem.ts";

/**
 * What a subject needs to define routes: schemas for input and output, the scope a caller must have, and a handler.
 * Input validation, authorization and the OpenAPI document all come from this declaration.
 */
export interface Caller {
  readonly tenant: Tenant;
  readonly by: CallingKey | CallingPerson;
}

export interface CallingKey {
  readonly kind: "key";
  readonly key: ApiKey;
}

export interface CallingPerson extends SignedIn {
  readonly kind: "person";
  /** In the workspace of this call. */
  readonly role: Role;
}

/** For the history. */
export const actorOf = ({ by }: Caller): Actor =>
  by.kind === "key" ? { kind: "key", id: by.key.id, name: by.key.name } : { kind: "person", id: by.person.id };

/**
 * Who may call a route. A permission is needed in the workspace of the call. `account` and `operator` routes belong to no
 * workspace and are for people only; `public` ones are for everybody, and limit their callers themselves. The path says the
 * same, so that authentication knows before the route does.
 */
export type Access = Permission | "account" | "operator" | "public";

const publicPrefix = "/api/auth/";
const accountPrefix = "/api/account";
const operatorPrefix = "/api/operator";

export function accessOfPath(path: string): "public" | "account" | "operator" | "workspace" {
  if (path.startsWith(publicPrefix)) return "public";
  if (path === accountPrefix || path.startsWith(`${accountPrefix}/`)) return "account";
  return path === operatorPrefix || path.startsWith(`${operatorPrefix}/`) ? "operator" : "workspace";
}

/** What is known about a request besides itself, and headers for its response. */
export interface RequestFacts {
  readonly requestId: string;
  /** The client's address, if known. */
  readonly address: string | undefined;
  readonly headers: Headers;
  /** How many seconds the connection may be silent until it is closed; 0 for any number. For responses that stream. */
  readonly allowSilence: (seconds: number) => void;
}

export interface RouteEnv {
  Bindings: RequestFacts;
  /** `once`: set when the request has an Idempotency-Key. */
  /** `caller`: in a workspace. `signedIn`: on routes of accounts and of the operator. */
  Variables: {
    caller: Caller;
    signedIn: SignedIn;
    runOnce: RunOnce;
    once: Once | undefined;
    /** Identifies the caller again. */
    again: () => Promise<void>;
    /** The same, and checks the right to call this route: for answers that go on for a while. */
    still: () => Promise<void>;
  };
}

export type Api = OpenAPIHono<RouteEnv>;

export function createApi(): Api {
  return new OpenAPIHono<RouteEnv>({
    defaultHook(result) {
      if (!result.success) throw invalidInput(result.error, result.target);
    },
  });
}

export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.enum(Object.keys(problems) as [ProblemCode, ...ProblemCode[]]),
    detail: z.string(),
    used: z.int().optional().openapi({ description: "With `over_quota`: bytes stored." }),
    held: z.int().optional().openapi({ description: "With `over_quota`: bytes reserved by incomplete uploads." }),
    limit: z.int().optional().openapi({ description: "With `over_quota`: the storage quota in bytes." }),
    missing: z
      .int()
      .optional()
      .openapi({ description: "With `over_quota`: bytes by which the file exceeds the quota." }),
    keys: z.int().optional().openapi({ description: "With `keys_undecided`: how many API keys there are." }),
    trashedLink: z
      .string()
      .optional()
      .openapi({ description: "With `code_taken`: the link in your trash that has the code. It can be restored." }),
    errors: z.array(z.object({ field: z.string(), code: z.string(), message: z.string() })).optional(),
    requestId: z.string().optional(),
  })
  .openapi("Problem");

/** `operationId` is the method's name in the client and the anchor on the page: once published, it must not change. */
type Described = Omit<Parameters<typeof createRoute>[0], "responses"> & { readonly operationId: string };

/**
 * A route for callers with `scope`, and the problems it may answer besides the usual ones.
 *
 * A POST with an Idempotency-Key runs once. `x-repeatable` says that it may run again after a crash, because everything
 * it creates has IDs from `once`.
 */
export function route<
  const Path extends string,
  const Config extends Described & { path: Path },
  const Success extends Record<
    number,
    { description: string; content?: Readonly<Record<string, { schema: z.ZodType }>> }
  >,
>(access: Access, config: Config, success: Success, ...codes: ProblemCode[]) {
  const place = accessOfPath(config.path);
  if (place === "workspace" ? !isPermission(access) : place !== access) {
    throw new Error(`${config.path} is a path for ${place} routes, and its access is ${access}`);
  }
  const usual: ProblemCode[] = [
    "unauthorized",
    "forbidden",
    "suspended",
    "rate_limited",
    "too_many_guesses",
    "unavailable",
    "internal",
  ];
  // What is kept for a repeated request is kept under the workspace.
  const once = config.method === "post" && place === "workspace";
  const repeatable = "x-repeatable" in config && config["x-repeatable"] === true;
  if (once) usual.push("idempotency_in_flight", "idempotency_unknown", "idempotency_mismatch");
  const byStatus = Map.groupBy(new Set([...usual, ...codes]), (code) => problems[code].status);
  const failures = Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\`: ${problems[code].title}.`).join(" "),
        content: { "application/problem+json": { schema: problemSchema } },
      },
    ]),
  );
  return createRoute({
    ...config,
    security: securityOf(access),
    "x-scope": access,
    description: [("description" in config && config.description) || "", requirementOf(access)]
      .filter(Boolean)
      .join(" "),
    ...(once && { parameters: [idempotencyKey] }),
    middleware: async (c: Context<RouteEnv>, next: () => Promise<void>) => {
      const check = () => {
        if (isPermission(access)) requirePermission(c.get("caller"), access);
        if (access === "operator") requireOperator(c.get("signedIn"));
      };
      check();
      c.set("still", async () => {
        await c.get("again")();
        check();
      });
      const key = once ? c.req.header("idempotency-key") : undefined;
      await (key === undefined ? next() : c.get("runOnce")(key, c, next, repeatable));
    },
    responses: { ...failures, ...success } as Success,
  });
}

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header" as const,
  required: false,
  description:
    "A unique key of 1 to 255 visible ASCII characters. A request repeated with the same key runs once and returns the same response for 24 hours.",
  schema: { type: "string" as const, minLength: 1, maxLength: 255 },
  example: "5f0c2a52-9a37-4a8c-a8a1-3a1f0c6d1b90",
};

export const isScope = (access: Access): access is Scope => scopes.some((scope) => scope === access);
const isPermission = (access: Access): access is Permission => access === "owner" || isScope(access);

function securityOf(access: Access): Record<string, string[]>[] {
  if (access === "public") return [];
  return isScope(access) ? [{ key: [] }, { session: [] }] : [{ session: [] }];
}

function requirementOf(access: Access): string {
  switch (access) {
    case "public":
      return "For everybody.";
    case "account":
      return "For people who are signed in.";
    case "operator":
      return "For operators of this server.";
    case "owner":
      return "For owners of the workspace.";
    default:
      return `Requires the scope \`${access}\`.`;
  }
}

/** Whether the caller may do this, in the workspace of the call. */
export const mayCall = ({ by }: Caller, permission: Permission): boolean =>
  by.kind === "person" ? roleAllows(by.role, permission) : isScope(permission) && allows(by.key, permission);

/** Of the route itself, this is checked already: for a route that shows what another one guards. */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (mayCall(caller, permission)) return;
  if (caller.by.kind === "person") {
    throw new Problem(
      "forbidden",
      `Your role in this workspace is ${caller.by.role}, which does not include ${permission}. Ask an owner or admin.`,
    );
  }
  throw new Problem(
    "forbidden",
    permission === "owner"
      ? "API keys cannot do this. Sign in as an owner of the workspace."
      : `This API key lacks the scope ${permission}. Create a key that has it: quicklink key create.`,
  );
}

function requireOperator({ person }: SignedIn): void {
  if (!person.isOperator) throw new Problem("forbidden", "Only operators of this server can do this.");
}

/** A JSON body, a JSON answer. */
export const json = <Schema extends z.ZodType>(schema: Schema, description: string) => ({
  description,
  content: { "application/json": { schema } },
});

export const jsonBody = <Schema extends z.ZodType>(schema: Schema) => ({
  required: true,
  content: { "application/json": { schema } },
});

/**
 * The same schema for request bodies that are mostly plain: those that `isPlain` knows to be valid are not checked, and passed
 * on as they are. All others are left to the schema, which is the only one that refuses.
 */
export function plainFirst<Schema extends z.ZodType>(schema: Schema, isPlain: (sent: unknown) => boolean): Schema {
  const check = schema.safeParseAsync;
  schema.safeParseAsync = async (sent, context) =>
    isPlain(sent) ? { success: true, data: sent as z.output<Schema> } : await check(sent, context);
  return schema;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it finds control characters, which are rejected.
const lineControl = /[\u0000-\u001f\u007f-\u009f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it finds control characters except tabs and line breaks.
const textControl = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** Text to look for, which may be blank or begin with a space. */
export const soughtText = (most: number) =>
  z
    .string()
    .max(most, `Must have at most ${most} characters.`)
    .refine((text) => !lineControl.test(text), {
      message: "Must not contain control characters.",
      params: { code: "control_characters" },
    })
    .refine((text) => text.isWellFormed(), { message: "Must be valid Unicode.", params: { code: "bad_unicode" } });

/** One line of text: no control characters, not blank, well-formed. */
export const singleLine = (most: number) => readable(most, lineControl, "Must not contain control characters.");
/** The same as a condition, for callers that decide without a schema. */
export const isReadableLine = (text: string, most: number): boolean =>
  text.length <= most && !lineControl.test(text) && text.isWellFormed() && text.trim() !== "";
/** Several lines. */
export const multiLine = (most: number) =>
  readable(most, textControl, "Must not contain control characters other than tabs and line breaks.");

function readable(most: number, refused: RegExp, message: string) {
  return z
    .string()
    .max(most, `Must have at most ${most} characters.`)
    .refine((text) => !refused.test(text), { message, params: { code: "control_characters" } })
    .refine((text) => text.isWellFormed(), { message: "Must be valid Unicode.", params: { code: "bad_unicode" } })
    .refine((text) => text.trim() !== "", {
      message: "Must not be blank. Omit it or use null.",
      params: { code: "blank" },
    });
}

export { z };
