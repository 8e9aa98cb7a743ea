/**
 * A private OpenID provider: the real `oidc-provider` on 127.0.0.1, in which people sign in without a form. A test may make
 * it lie: change what an ID token says, sign it with another key, or stop answering.
 */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type Server as HttpServer } from "node:http";
import Provider, { type Configuration } from "oidc-provider";
import { freePort } from "./ports.ts";

export type OidcAccount = {
  /** The person at the provider. */
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
};

export type OidcManners = {
  /** Claims of the ID token that differ. */
  claims?: Readonly<Record<string, unknown>>;
  /** Signs with a key that the provider does not publish. */
  foreignKey?: boolean;
  /** Answers to the server: never, or with this status. */
  answers?: "never" | number;
};

export type OidcServer = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  manners: OidcManners;
  /** Requests for tokens so far. */
  exchanges(): number;
  /** As a browser that was sent to `url`: signs in, and returns the address that it is sent back to. */
  signIn(url: string, account: OidcAccount): Promise<string>;
  stop(): Promise<void>;
  /** On the same port. */
  restart(): Promise<void>;
};

const clientId = "quicklink";
const clientSecret = "the secret of the client";
const keyId = "key-1";

/** `redirectUri`: the only address to which the provider sends browsers back. */
export async function startOidc(redirectUri: string, port = freePort()): Promise<OidcServer> {
  const issuer = `http://127.0.0.1:${port}`;
  const key = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
  const foreign = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
  const accounts = new Map<string, OidcAccount>();
  const state: { manners: OidcManners; exchanges: number } = { manners: {}, exchanges: 0 };
  const provider = new Provider(issuer, settingsOf(redirectUri, key, accounts));
  provider.on("server_error", (_, error) => process.stderr.write(`${error}\n`));

  provider.use(async (context, next) => {
    if (/^\/interaction\//.test(context.path)) {
      const sub = context.get("x-account");
      const { prompt, params, session } = await provider.interactionDetails(context.req, context.res);
      if (prompt.name === "login") {
        await provider.interactionFinished(context.req, context.res, { login: { accountId: sub } });
      } else {
        const grant = new provider.Grant({ accountId: session?.accountId ?? sub, clientId: String(params.client_id) });
        grant.addOIDCScope("openid email profile");
        await provider.interactionFinished(context.req, context.res, { consent: { grantId: await grant.save() } });
      }
      context.respond = false;
      return;
    }
    await next();
    if (context.path !== "/token") return;
    state.exchanges++;
    const body = context.body as { id_token?: string };
    if (typeof body?.id_token === "string") body.id_token = retold(body.id_token, state.manners, { key, foreign });
  });

  const answer = provider.callback();
  let server: HttpServer;
  const listen = () =>
    new Promise<void>((resolve) => {
      server = createServer((request, response) => {
        const isOfServer = request.headers["x-account"] === undefined;
        if (isOfServer && state.manners.answers === "never") return;
        if (isOfServer && typeof state.manners.answers === "number") {
          response.writeHead(state.manners.answers).end("broken");
          return;
        }
        void answer(request, response);
      });
      server.listen(port, "127.0.0.1", resolve);
    });
  await listen();

  return {
    issuer,
    clientId,
    clientSecret,
    get manners() {
      return state.manners;
    },
    set manners(manners) {
      state.manners = manners;
    },
    exchanges: () => state.exchanges,
    async signIn(url, account) {
      accounts.set(account.sub, account);
      return await walk(url, account.sub, redirectUri);
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    restart: listen,
  };
}

function settingsOf(redirectUri: string, key: KeyObject, accounts: Map<string, OidcAccount>): Configuration {
  return {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...key.export({ format: "jwk" }), kid: keyId, alg: "RS256", use: "sig" } as never] },
    cookies: { keys: ["a key for cookies of tests"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    ttl: { Session: 60, Grant: 60, Interaction: 60, AccessToken: 60, IdToken: 60 },
    findAccount: (_, sub) => {
      const account = accounts.get(sub);
      return account && { accountId: sub, claims: async () => ({ ...account }) };
    },
  };
}

const redirectsMost = 10;

/** Follows redirects with cookies, up to the address of the client. */
async function walk(url: string, sub: string, redirectUri: string): Promise<string> {
  const cookies = new Map<string, string>();
  let at = url;
  for (let step = 0; step < redirectsMost; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(at, { redirect: "manual", headers: { cookie, "x-account": sub } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`${at} answered ${response.status}: ${await response.text()}`);
    at = new URL(location, at).href;
    if (at.startsWith(`${redirectUri}?`)) return at;
  }
  throw new Error(`the provider sends the browser around: ${at}`);
}

/** The same token with other claims, signed again. */
function retold(
  token: string,
  { claims, foreignKey }: OidcManners,
  keys: Record<"key" | "foreign", KeyObject>,
): string {
  if (claims === undefined && !foreignKey) return token;
  const [header = "", payload = ""] = token.split(".");
  const told = { ...JSON.parse(Buffer.from(payload, "base64url").toString()), ...claims };
  const body = `${header}.${Buffer.from(JSON.stringify(told)).toString("base64url")}`;
  const signature = sign("sha256", Buffer.from(body), foreignKey ? keys.foreign : keys.key);
  return `${body}.${signature.toString("base64url")}`;
}
