/** The parts of an OpenAPI document that we read: for the page at /docs, and for the client. */
export interface Document {
  readonly info: { readonly title: string; readonly version: string };
  readonly servers?: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

export interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly "x-scope"?: string;
  /** `key`, `session`, or nothing for everybody. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

export type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly required?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly description?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export const routesOf = (document: Document): Route[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

/** `#/components/schemas/Link` is `Link`. */
export const nameOfRef = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1);

export function resolve(document: Document, schema: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const found = document.components.schemas[nameOfRef(schema.$ref)];
  if (found === undefined) throw new Error(`the document has no ${schema.$ref}`);
  return found;
}

/** All fields of an object, including one composed of several. */
export function fieldsOf(
  document: Document,
  schema: JsonSchema,
): { name: string; field: JsonSchema; required: boolean }[] {
  const whole = resolve(document, schema);
  const own = Object.entries(whole.properties ?? {}).map(([name, field]) => ({
    name,
    field,
    required: whole.required?.includes(name) ?? false,
  }));
  return [...(whole.allOf ?? []).flatMap((part) => fieldsOf(document, part)), ...own];
}

export const bodyOf = ({ requestBody }: Operation): JsonSchema | undefined =>
  requestBody?.content["application/json"]?.schema;

/** In words: `text`, `whole number or null`, `list of text`. */
export function typeText(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return nameOfRef(schema.$ref);
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices) return choices.map(typeText).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" · ");
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length === 0) return "anything";
  return types
    .map((type) => (type === "array" ? `list of ${typeText(schema.items ?? {})}` : words(type, schema)))
    .join(" or ");
}

function words(type: string, { format, maxLength, description }: JsonSchema): string {
  if (type === "string" && format === "date-time") return "time";
  // A description already says what is allowed, and more precisely.
  const bounded = type === "string" && maxLength !== undefined && description === undefined;
  const names: Readonly<Record<string, string>> = { string: "text", integer: "whole number", boolean: "true or false" };
  return `${names[type] ?? type}${bounded ? `, at most ${maxLength.toLocaleString("en")} characters` : ""}`;
}

/** Whether programs may call it with an API key; the others are for people. */
export const isForKeys = ({ operation }: Route): boolean => operation.security?.some((one) => "key" in one) ?? false;
