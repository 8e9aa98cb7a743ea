import { createHash } from "node:crypto";
import { escapeHtml } from "../base/escape-html.ts";
import { docsStyle } from "./docs-style.ts";
import {
  bodyOf,
  type Document,
  fieldsOf,
  isForKeys,
  type JsonSchema,
  nameOfRef,
  type Parameter,
  type Route,
  resolve,
  routesOf,
  typeText,
} from "./openapi.ts";

/**
 * The page at /docs, generated from the OpenAPI document: every route with its input, its responses and a curl command.
 * A test runs those commands as shown on the page.
 */
export function docsPage(document: Document): string {
  const byTag = Map.groupBy(routesOf(document), ({ operation }) => operation.tags?.[0] ?? "More");
  const schemas = Object.keys(document.components.schemas).toSorted();
  const contents = (open: boolean) => `<ul><li><a href="#start">Getting started</a></li></ul>
${[...byTag].map(([tag, routes]) => group(tag, routes.map(entry), open)).join("\n")}
${group("Objects", schemas.map(objectEntry), false)}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>QuickLink API</title><style>${docsStyle}</style></head>
<body><div class="page">
<nav class="side" aria-label="Contents">${contents(true)}</nav>
<nav class="folded" id="contents" aria-label="Contents"><h2>Contents</h2>${contents(false)}</nav>
<main>${introduction(document)}
${[...byTag].map(([tag, routes]) => `<h2>${escapeHtml(tag)}</h2>\n${routes.map((route) => article(document, route)).join("\n")}`).join("\n")}
<h2>Objects</h2>
${schemas.map((name) => object(document, name)).join("\n")}
</main></div><a class="up" href="#contents">Contents</a></body></html>
`;
}

const styleHash = createHash("sha256").update(docsStyle).digest("base64");

export const docsHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "cache-control": "no-cache",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** A collapsible subject: not everything fits on one screen. */
const group = (name: string, entries: readonly string[], open: boolean): string =>
  `<details${open ? " open" : ""}><summary>${escapeHtml(name)} <span>${entries.length}</span></summary><ul>${entries.join("")}</ul></details>`;

const entry = ({ operation }: Route): string =>
  `<li><a href="#${operation.operationId}">${escapeHtml(operation.summary ?? operation.operationId)}</a></li>`;

const objectEntry = (name: string): string => `<li><a href="#${anchor(name)}">${escapeHtml(name)}</a></li>`;

function introduction({ info, servers }: Document): string {
  return `<h1>${escapeHtml(info.title)} API</h1>
<p class="soft">Version ${escapeHtml(info.version)}. Machine-readable: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<article id="start"><h3>Getting started</h3>
<p>Every request needs an API key. The examples on this page run as shown once you set these variables, and <code>$ID</code>, <code>$HOST</code> or <code>$ADDRESS</code> where a path has them:</p>
<pre><code>export QUICKLINK=${escapeHtml(servers?.[0]?.url ?? "")}
export KEY=ql_…</code></pre>
<p><b>Errors</b> are problem documents (<code>application/problem+json</code>). The <code>code</code> is stable; <code>errors</code> lists the invalid fields; quote the <code>requestId</code> when you ask for help.</p>
<p><b>Rate limits</b>: the headers <code>RateLimit</code> and <code>RateLimit-Policy</code> show the calls left. After a 429 or 503, wait for the number of seconds in <code>Retry-After</code>.</p>
<p><b>Idempotency</b>: send a unique <code>Idempotency-Key</code> with a POST, and repeat the same request if you did not get the response. It runs once and returns the same response for 24 hours.</p>
<p><b>Pagination</b>: pass <code>nextCursor</code> as <code>cursor</code>, with the same <code>sort</code> and <code>order</code>, until it is null.</p>
<p><b>Concurrent edits</b>: send the version you read in <code>If-Match</code>. If someone else changed the resource, the request fails with 412.</p>
</article>`;
}

function article(document: Document, { method, path, operation }: Route): string {
  const { parameters = [], responses } = operation;
  const body = bodyOf(operation);
  const answers = Object.entries(responses).sort(([a], [b]) => (a < b ? -1 : 1));
  return `<article id="${operation.operationId}"><h3>${escapeHtml(operation.summary ?? operation.operationId)}</h3>
<div class="way ${method.toLowerCase()}"><b>${method}</b><span>${escapeHtml(path)}</span></div>
<p>${text(operation.description ?? "")}</p>
${parameters.length > 0 ? `<h4>Parameters</h4><dl>${parameters.map(parameter).join("")}</dl>` : ""}
${body ? `<h4>Body${body.$ref ? `: ${reference(body.$ref)}` : ""}</h4>${fields(document, body)}` : ""}
<h4>Responses</h4><dl>${answers.map(([status, answer]) => `<dt><code>${status}</code>${answered(answer.content)}</dt><dd>${text(answer.description)}</dd>`).join("")}</dl>
<h4>Example</h4><pre class="curl"><code>${escapeHtml(curl(document, { method, path, operation }))}</code></pre>
</article>`;
}

function answered(content: Route["operation"]["responses"][string]["content"]): string {
  const ref = Object.values(content ?? {})[0]?.schema.$ref;
  return ref === undefined ? "" : `<span>${reference(ref)}</span>`;
}

const parameter = ({ name, in: place, required, description, schema }: Parameter): string =>
  `<dt><code>${escapeHtml(name)}</code><span>${place}, ${type(schema)}</span>${needed(required)}</dt><dd>${text(description ?? schema.description ?? "")}${initially(schema)}</dd>`;

function fields(document: Document, schema: JsonSchema): string {
  const rows = fieldsOf(document, schema).map(
    ({ name, field, required }) =>
      `<dt><code>${escapeHtml(name)}</code><span>${type(field)}</span>${needed(required)}</dt><dd>${text(field.description ?? "")}${initially(field)}</dd>`,
  );
  return `<dl>${rows.join("")}</dl>`;
}

function object(document: Document, name: string): string {
  const schema = document.components.schemas[name] ?? {};
  return `<article id="${anchor(name)}"><h3>${escapeHtml(name)}</h3>
<p>${text(schema.description ?? "")}</p>${fields(document, schema)}</article>`;
}

const needed = (required: boolean | undefined): string => (required ? '<span class="needed">required</span>' : "");

const initially = ({ default: value }: JsonSchema): string =>
  value === undefined ? "" : ` Default: <code>${escapeHtml(JSON.stringify(value))}</code>.`;

const type = (schema: JsonSchema): string =>
  escapeHtml(typeText(schema)) + (schema.items?.$ref ? ` (${reference(schema.items.$ref)})` : "");

const anchor = (name: string): string => `object-${name}`;

const reference = (ref: string): string => `<a href="#${anchor(nameOfRef(ref))}">${escapeHtml(nameOfRef(ref))}</a>`;

/** Ready to paste into a shell. */
function curl(document: Document, { method, path, operation }: Route): string {
  const body = bodyOf(operation);
  // A stream would not end by itself: a parameter says when, and nothing is held back until then.
  const streams = "text/event-stream" in (operation.responses["200"]?.content ?? {});
  const query = (operation.parameters ?? [])
    .filter((one) => one.in === "query" && (one.required || streams))
    .map((one) => `${one.name}=${encodeURIComponent(String(one.example ?? one.schema.example ?? ""))}`);
  const address = `$QUICKLINK${path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)}${query.length > 0 ? `?${query.join("&")}` : ""}`;
  return [
    `curl${streams ? " -N" : ""}${method === "GET" ? "" : ` -X ${method}`} "${address}"`,
    ...credentials({ method, path, operation }),
    ...(body ? ['-H "Content-Type: application/json"', `-d '${quoted(exampleOf(document, body))}'`] : []),
  ].join(" \\\n  ");
}

/** A person's request has the cookie of their session, and says that it comes from a page of this server. */
function credentials(route: Route): string[] {
  if (isForKeys(route)) return ['-H "Authorization: Bearer $KEY"'];
  const isPublic = route.operation.security?.length === 0;
  return [...(isPublic ? [] : ['-b "$COOKIE"']), ...(route.method === "GET" ? [] : ['-H "Origin: $QUICKLINK"'])];
}

const quoted = (value: unknown): string => JSON.stringify(value).replaceAll("'", "'\\''");

/** The schema's example, or else the required fields with sample values. */
export function exampleOf(document: Document, schema: JsonSchema): unknown {
  const whole = resolve(document, schema);
  if (whole.example !== undefined) return whole.example;
  if (whole.enum) return whole.enum[0];
  const [kind] = [whole.type ?? []].flat();
  if (kind === "array") return [exampleOf(document, whole.items ?? {})];
  if (kind === "integer" || kind === "number") return whole.minimum ?? 1;
  if (kind === "boolean") return true;
  if (kind === "string") return "text";
  return Object.fromEntries(
    fieldsOf(document, whole).flatMap(({ name, field, required }) =>
      required ? [[name, exampleOf(document, field)]] : [],
    ),
  );
}

/** Text between backticks is code. */
const text = (plain: string): string => escapeHtml(plain).replace(/`([^`]+)`/g, "<code>$1</code>");
