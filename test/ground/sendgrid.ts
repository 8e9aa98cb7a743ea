/**
 * A stand-in for SendGrid's `POST /v3/mail/send` that counts: it knows its keys, checks what the real one checks of a
 * body, and answers as the real one does. Callers can add other routes.
 */
export type TakenBySendgrid = {
  readonly at: number;
  readonly key: string;
  readonly to: string;
  readonly emailId: string;
  readonly messageId: string;
  readonly body: SendgridBody;
};

export type SendgridBody = {
  personalizations: { to: { email: string }[] }[];
  from: { email: string; name?: string };
  reply_to?: { email: string };
  subject: string;
  content: { type: string; value: string }[];
  headers?: Record<string, string>;
  custom_args?: Record<string, string>;
};

export type Sendgrid = {
  readonly url: string;
  readonly port: number;
  readonly keys: Set<string>;
  /** What `GET /v3/scopes` says a key may do, and how it is answered instead. */
  scopes: readonly string[];
  scopesManner: (() => Response | Promise<Response>) | undefined;
  readonly taken: readonly TakenBySendgrid[];
  requests(): number;
  /** Instead of accepting it. `drop` accepts it and never answers. */
  manner: ((body: SendgridBody) => Response | "drop" | undefined) | undefined;
  /** Delay between accepting a mail and answering. */
  answerAfterMs: number;
  stop(): Promise<void>;
};

export function startSendgrid(options: { now?: () => number; port?: number } = {}): Sendgrid {
  const now = options.now ?? Date.now;
  const taken: TakenBySendgrid[] = [];
  const keys = new Set<string>();
  let asked = 0;

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: options.port ?? 0,
    idleTimeout: 60,
    async fetch(request) {
      if (request.method === "GET" && new URL(request.url).pathname === "/v3/scopes") return tellScopes(request);
      if (request.method !== "POST" || new URL(request.url).pathname !== "/v3/mail/send")
        return problem(404, "not found");
      asked++;
      const key = keyIn(request);
      if (!keys.has(key)) return problem(401, "The provided authorization grant is invalid, expired, or revoked");
      const body = (await request.json()) as SendgridBody;
      const wrong = refuse(body);
      if (wrong !== undefined) return problem(400, wrong);
      const manner = sendgrid.manner?.(body);
      if (manner instanceof Response) return manner;
      const [to] = body.personalizations[0]?.to ?? [];
      taken.push({
        ...{ at: now(), key, body, to: to?.email ?? "", emailId: body.custom_args?.quicklink_id ?? "" },
        messageId: body.headers?.["Message-ID"] ?? "",
      });
      if (manner === "drop") return await new Promise<Response>(() => {});
      if (sendgrid.answerAfterMs > 0) await Bun.sleep(sendgrid.answerAfterMs);
      return new Response(null, { status: 202, headers: { "x-message-id": `sg${crypto.randomUUID()}` } });
    },
  });

  function tellScopes(request: Request): Response | Promise<Response> {
    asked++;
    if (sendgrid.scopesManner) return sendgrid.scopesManner();
    return keys.has(keyIn(request))
      ? Response.json({ scopes: sendgrid.scopes })
      : problem(401, "The provided authorization grant is invalid, expired, or revoked");
  }

  const sendgrid: Sendgrid = {
    url: `http://127.0.0.1:${server.port}`,
    port: Number(server.port),
    keys,
    scopes: ["mail.send", "user.profile.read"],
    scopesManner: undefined,
    taken,
    requests: () => asked,
    manner: undefined,
    answerAfterMs: 0,
    stop: () => server.stop(true),
  };
  return sendgrid;
}

const keyIn = (request: Request): string => /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";

export function problem(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ errors: [{ message, field: null, help: null }] }, { status, headers });
}

const reservedHeaders = /^(?:received|dkim-signature|content-type|to|from|subject|reply-to|cc|bcc)$/i;

function refuse({ personalizations, from, subject, content, headers = {}, custom_args = {} }: SendgridBody) {
  const recipients = personalizations?.flatMap(({ to }) => to ?? []) ?? [];
  if (recipients.length === 0) return "The to array is required";
  if (recipients.some(({ email }) => !/^\S+@\S+$/.test(email))) return "Does not contain a valid address.";
  if (!/^\S+@\S+$/.test(from?.email ?? "")) return "The from object must be provided";
  if (typeof subject !== "string" || subject === "") return "The subject is required";
  if (!Array.isArray(content) || content.length === 0 || content.some(({ value }) => !value))
    return "The content is required";
  if (content[0]?.type !== "text/plain") return "If present, text/plain must be first";
  if (Object.keys(headers).some((name) => reservedHeaders.test(name))) return "A header is reserved";
  if (Object.values(custom_args).some((value) => typeof value !== "string")) return "custom_args are strings";
  return undefined;
}
