/** A server whose output is a terminal, as `npm start` in a shell. */
import { join } from "node:path";
import { freePort } from "./ports.ts";
import { cleanEnvironment } from "./process.ts";
import { program } from "./server.ts";
import { tempFolder } from "./temp.ts";

export type TerminalServer = {
  readonly folder: string;
  readonly port: number;
  /** What the terminal has shown so far. */
  shown(): string;
  stop(): Promise<void>;
};

export function serveOnTerminal(): TerminalServer {
  const [folder, port] = [tempFolder("data"), freePort()];
  let shown = "";
  const server = Bun.spawn([...program, "serve"], {
    cwd: join(import.meta.dir, "../.."),
    env: cleanEnvironment({ QL_DATA: folder, PORT: String(port), HOST: "127.0.0.1" }),
    terminal: {
      cols: 400,
      rows: 50,
      data(_, data) {
        shown += new TextDecoder().decode(data);
      },
    },
  });
  return {
    ...{ folder, port, shown: () => shown },
    async stop() {
      server.kill();
      await server.exited;
    },
  };
}
