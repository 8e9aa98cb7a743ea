import {
  type Document,
  fieldsOf,
  isForKeys,
  type JsonSchema,
  nameOfRef,
  type Parameter,
  type Route,
  resolve,
  routesOf,
} from "../src/http/openapi.ts";

/**
 * clients/typescript/src/generated.ts, from the OpenAPI document: a type for every object, and a method for every route
 * under its `operationId`. How a call is made is written by hand, in `call.ts` beside it.
 */
export const clientPath = "clients/typescript/src/generated.ts";

export async function describeClient(document: Document): Promise<string> {
  const schemas = Object.entries(document.components.schemas).toSorted(([a], [b]) => (a < b ? -1 : 1));
  // The client has an API key: what is for people only is not for it.
  const routes = routesOf(document)
    .filter(isForKeys)
    .map((route) => methodOf(document, route));
  const raw = routes.some(({ code }) => code.includes("RawBody")) ? ", type RawBody" : "";
  return await formatted(`/** Generated from the OpenAPI document by \`npm run docs\`. A test compares the two. */
import { type Asked, Caller, type CallOptions, type ClientSettings, eachOf, type PostOptions${raw} } from "./call.ts";

${schemas.map(([name, schema]) => declaration(name, schema)).join("\n\n")}

${routes
  .map(({ types }) => types)
  .filter(Boolean)
  .join("\n\n")}

export class QuickLink {
  readonly #caller: Caller;

  constructor(settings: ClientSettings) {
    this.#caller = new Caller(settings);
  }

  /** Sends any request to the API, for routes without a method here. */
  send(asked: Asked): Promise<Response> {
    return this.#caller.response(asked);
  }

${routes.map(({ code }) => code).join("\n\n")}
}
`);
}

/** What the dashboard calls, people's routes included: types only, which cost no byte in the browser. `web/api/call.ts` calls. */
export const dashboardRoutesPath = "web/api/generated.ts";

export async function describeDashboardRoutes(document: Document): Promise<string> {
  const schemas = Object.entries(document.components.schemas).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return await formatted(`/** Generated from the OpenAPI document by \`npm run docs\`. A test compares the two. */
${schemas.map(([name, schema]) => declaration(name, schema)).join("\n\n")}

/** For each route: the parameters of its path and query, the body, and the answer. */
export interface Routes {
${routesOf(document).map(routeType).join("\n")}
}
`);
}

function routeType({ method, path, operation }: Route): string {
  const { parameters = [], summary = operation.operationId } = operation;
  const query = parameters.filter((one) => one.in === "query");
  const body = operation.requestBody?.content;
  const json = body?.["application/json"]?.schema;
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, id]) => `readonly ${id}: string;`);
  const parts = [
    `readonly path: ${ids.length === 0 ? "undefined" : `{ ${ids.join(" ")} }`};`,
    `readonly query: ${query.length === 0 ? "undefined" : `{\n${query.map(queryMember).join("\n")}\n}`};`,
    `readonly body: ${body === undefined ? "undefined" : json ? typeOf(json) : "Blob | string"};`,
    `readonly result: ${answerOf(operation.responses).result.replace(/^void$/, "undefined")};`,
  ];
  return `/** ${summary}. */\n"${method} ${path}": {\n${parts.join("\n")}\n};`;
}

function declaration(name: string, schema: JsonSchema): string {
  const comment = schema.description ? `/** ${schema.description} */\n` : "";
  // A nullable type cannot be an interface.
  return schema.type === "object" && schema.properties && !schema.allOf
    ? `${comment}export interface ${name} ${typeOf(schema)}`
    : `${comment}export type ${name} = ${typeOf(schema)};`;
}

/** A schema as a type. */
function typeOf(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return nameOfRef(schema.$ref);
  if (schema.allOf) return schema.allOf.map(typeOf).join(" & ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(typeOf).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const types = [schema.type ?? []].flat();
  return types.length === 0 ? "unknown" : types.map((type) => plainType(type, schema)).join(" | ");
}

function plainType(type: string, schema: JsonSchema): string {
  if (type === "array") return `readonly (${typeOf(schema.items ?? {})})[]`;
  if (type === "integer") return "number";
  if (type !== "object") return type;
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) =>
    member(name, field, schema.required?.includes(name) ?? false),
  );
  const { additionalProperties: others } = schema;
  if (fields.length === 0)
    return `Readonly<Record<string, ${typeof others === "object" ? typeOf(others) : "unknown"}>>`;
  return `{\n${fields.join("\n")}\n}`;
}

function member(name: string, schema: JsonSchema, required: boolean): string {
  const comment = schema.description ? `/** ${schema.description} */\n` : "";
  const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
  return `${comment}readonly ${key}${required ? "" : "?"}: ${typeOf(schema)}${required ? "" : " | undefined"};`;
}

function methodOf(document: Document, { method, path, operation }: Route): { types: string; code: string } {
  const { operationId: name, parameters = [] } = operation;
  const capital = name.charAt(0).toUpperCase() + name.slice(1);
  const query = parameters.filter((one) => one.in === "query");
  const headers = parameters.filter((one) => one.in === "header" && one.name !== "Idempotency-Key");
  const body = operation.requestBody?.content;
  const json = body?.["application/json"]?.schema;
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, id]) => id ?? "");
  const base = method === "POST" ? "PostOptions" : "CallOptions";
  const options = headers.length > 0 ? `${base} & { ${headers.map(headerMember).join(" ")} }` : base;
  const queryNeeded = query.some(({ required }) => required);
  const given = [
    ...ids.map((id) => `${id}: string`),
    ...(body ? [`body: ${json ? typeOf(json) : "RawBody"}`] : []),
    ...(query.length > 0 ? [`query: ${capital}Query${queryNeeded ? "" : " = {}"}`] : []),
    `options: ${options} = {}`,
  ];
  const { result, call } = answerOf(operation.responses);
  const asked = [
    `method: ${JSON.stringify(method)}`,
    `path: ${ids.length === 0 ? JSON.stringify(path) : addressOf(path)}`,
    ...(query.length > 0 ? ["query"] : []),
    ...(headers.length > 0
      ? [`headers: { ${headers.map((one) => `${JSON.stringify(one.name)}: options.${camel(one.name)}`).join(", ")} }`]
      : []),
    ...(body ? [json ? "json: body" : "body"] : []),
    ...(method === "POST" ? ["idempotencyKey: options.idempotencyKey"] : []),
    "signal: options.signal",
  ];
  const code = `/** ${operation.summary ?? name}. ${operation.description ?? ""} */
  ${name}(${given.join(", ")}): Promise<${result}> {
    return this.#caller.${call}({ ${asked.join(", ")} });
  }`;
  const types = query.length > 0 ? `export interface ${capital}Query {\n${query.map(queryMember).join("\n")}\n}` : "";
  return { types, code: code + iterator(document, { name, ids, type: `${capital}Query` }, query, operation.responses) };
}

/** A template literal with the IDs in it. */
const addressOf = (path: string): string =>
  `\`${path.replace(/\{(\w+)\}/g, (_, id: string) => ["$", "{encodeURIComponent(", id, ")}"].join(""))}\``;

const queryMember = ({ name, schema, required }: Parameter): string => member(name, schema, required ?? false);

const headerMember = ({ name }: Parameter): string => `readonly ${camel(name)}?: string | undefined;`;

const camel = (header: string): string =>
  header.toLowerCase().replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

type Responses = Route["operation"]["responses"];

function answerOf(responses: Responses): { result: string; call: string; schema?: JsonSchema } {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? [];
  const contents = Object.entries(success?.content ?? {});
  if (contents.length === 0) return { result: "void", call: "nothing" };
  const schema = success?.content?.["application/json"]?.schema;
  if (contents.length > 1 || schema === undefined) return { result: "Response", call: "response" };
  const result = typeOf(schema);
  return { result, call: `json<${result}>`, schema };
}

/** A paginated list also gets an iterator. */
function iterator(
  document: Document,
  { name, ids, type }: { readonly name: string; readonly ids: readonly string[]; readonly type: string },
  query: readonly Parameter[],
  responses: Responses,
): string {
  const { schema } = answerOf(responses);
  if (!schema || !name.startsWith("list") || !query.some((one) => one.name === "cursor")) return "";
  const items = fieldsOf(document, schema).find((one) => one.name === "items");
  const item = items && typeOf(resolve(document, items.field).items ?? {});
  return `

  /** Iterates over all items; pages are loaded on demand. */
  ${name.replace(/^list/, "iterate")}(${ids.map((id) => `${id}: string, `).join("")}query: ${type} = {}, options: CallOptions = {}): AsyncGenerator<${item}> {
    return eachOf((cursor) => this.${name}(${ids.map((id) => `${id}, `).join("")}{ ...query, cursor: cursor ?? query.cursor }, options));
  }`;
}

async function formatted(code: string): Promise<string> {
  const biome = Bun.spawn(["node_modules/.bin/biome", "format", `--stdin-file-path=${clientPath}`], {
    cwd: `${import.meta.dir}/..`,
    stdin: new Blob([code]),
    stderr: "pipe",
  });
  const [text, complaint, status] = await Promise.all([
    new Response(biome.stdout).text(),
    new Response(biome.stderr).text(),
    biome.exited,
  ]);
  if (status !== 0) throw new Error(`the client cannot be formatted: ${complaint}\n${code}`);
  return text;
}
