/**
 * A real Chromium without a window, driven through its debugging protocol. Its virtual authenticator is a device for
 * passkeys that needs no finger. It reaches this machine only.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { find } from "./machine.ts";
import { startProcess, until } from "./process.ts";
import { tempFolder } from "./temp.ts";

export type Page = {
  goto(url: string): Promise<void>;
  /** The value of an expression, or of its promise. Fails with what the page threw. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** A device that makes and uses passkeys by itself. Returns its ID. */
  addAuthenticator(options?: { verifiesUser?: boolean }): Promise<string>;
  /** What the device keeps. */
  credentials(authenticator: string): Promise<readonly Credential[]>;
  addCredential(authenticator: string, credential: Credential): Promise<void>;
};

export type Credential = {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly rpId: string;
  readonly privateKey: string;
  readonly userHandle?: string;
  readonly signCount: number;
};

export type Chromium = { open(): Promise<Page>; stop(): Promise<void> };

const answerMs = 20_000;

export async function startChromium(): Promise<Chromium> {
  const tool = find("chromium");
  if (tool === undefined) throw new Error("Chromium is not installed: run npm test, which installs it or says how");
  const folder = tempFolder("chromium");
  const child = startProcess([
    ...[tool.path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"],
    ...["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"],
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    ...[`--user-data-dir=${folder}`, "--remote-debugging-port=0", "about:blank"],
  ]);
  const portFile = join(folder, "DevToolsActivePort");
  const [port, path] = await until("Chromium to listen", () => {
    if (!child.running()) throw new Error(child.output());
    const lines = existsSync(portFile) ? readFileSync(portFile, "utf8").split("\n") : [];
    return lines.length >= 2 ? lines : undefined;
  });
  const protocol = await connectTo(`ws://127.0.0.1:${port}${path}`);
  return {
    async open() {
      const { targetId } = await protocol.send<{ targetId: string }>("Target.createTarget", { url: "about:blank" });
      const attached = { targetId, flatten: true };
      const { sessionId } = await protocol.send<{ sessionId: string }>("Target.attachToTarget", attached);
      return pageOf(protocol, sessionId);
    },
    async stop() {
      protocol.close();
      await child.kill();
    },
  };
}

function pageOf(protocol: Protocol, session: string): Page {
  const send = <Result>(method: string, params: object = {}) => protocol.send<Result>(method, params, session);

  async function evaluate<Value>(expression: string): Promise<Value> {
    const asked = { expression, awaitPromise: true, returnByValue: true, userGesture: true };
    const { result, exceptionDetails: thrown } = await send<Evaluated>("Runtime.evaluate", asked);
    if (thrown !== undefined) throw new Error(thrown.exception?.description ?? thrown.text);
    return result.value as Value;
  }

  return {
    evaluate,
    async goto(url) {
      await send("Page.navigate", { url });
      await until(
        `the page ${url}`,
        async () =>
          (await evaluate<string>("document.readyState + ' ' + location.href")).startsWith(`complete ${url}`) ||
          undefined,
      );
    },
    async addAuthenticator({ verifiesUser = true } = {}) {
      await send("WebAuthn.enable");
      const options = {
        ...{
          protocol: "ctap2",
          transport: verifiesUser ? "internal" : "usb",
          hasResidentKey: true,
          hasUserVerification: verifiesUser,
        },
        ...{ isUserVerified: verifiesUser, automaticPresenceSimulation: true },
      };
      return (await send<{ authenticatorId: string }>("WebAuthn.addVirtualAuthenticator", { options })).authenticatorId;
    },
    async credentials(authenticatorId) {
      return (await send<{ credentials: Credential[] }>("WebAuthn.getCredentials", { authenticatorId })).credentials;
    },
    async addCredential(authenticatorId, credential) {
      await send("WebAuthn.addCredential", { authenticatorId, credential });
    },
  };
}

type Evaluated = {
  readonly result: { readonly value?: unknown };
  readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } };
};

type Protocol = {
  send<Result>(method: string, params: object, session?: string): Promise<Result>;
  close(): void;
};

type Message = { readonly id?: number; readonly result?: unknown; readonly error?: { readonly message: string } };

async function connectTo(url: string): Promise<Protocol> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error(`cannot connect to ${url}`));
  });
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(String(data)) as Message;
    if (id === undefined) return;
    if (error === undefined) waiting.get(id)?.resolve(result);
    else waiting.get(id)?.reject(new Error(error.message));
    waiting.delete(id);
  };
  return {
    async send<Result>(method: string, params: object, session?: string): Promise<Result> {
      const id = ++last;
      const answer = Promise.withResolvers<unknown>();
      waiting.set(id, answer);
      socket.send(JSON.stringify({ id, method, params, ...(session === undefined ? {} : { sessionId: session }) }));
      const late = setTimeout(() => answer.reject(new Error(`${method} took too long`)), answerMs);
      try {
        return (await answer.promise) as Result;
      } finally {
        clearTimeout(late);
      }
    },
    close: () => socket.close(),
  };
}
