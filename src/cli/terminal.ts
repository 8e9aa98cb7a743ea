import { AsyncLocalStorage } from "node:async_hooks";
import type { Readable, Writable } from "node:stream";
import { type Config, type Environment, loadConfig } from "../config/config.ts";

/**
 * What a command runs in: its settings and folder, and where it reads and prints. Normally that is the process. A test
 * gives another one, and so runs many commands in one process, also at the same time.
 */
export interface Terminal {
  /** Undefined: those of the process, which only config/ reads. */
  readonly environment: Environment | undefined;
  readonly folder: string | undefined;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number; hasColors?(): boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** False: the process also does other work, and its priority is not the command's to lower. */
  readonly ownsProcess: boolean;
  /** Set by a command that did its work and found something wrong. */
  exitCode: number;
}

const given = new AsyncLocalStorage<Terminal>();

const ofProcess: Terminal = {
  environment: undefined,
  folder: undefined,
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    return process.stdout;
  },
  get stderr() {
    return process.stderr;
  },
  ownsProcess: true,
  exitCode: 0,
};

export const terminal = (): Terminal => given.getStore() ?? ofProcess;

export const runOnTerminal = <Result>(own: Terminal, work: () => Result): Result => given.run(own, work);

/** The settings of this command. */
export const readConfig = (commandLine: Environment = {}): Config =>
  loadConfig(terminal().environment, terminal().folder, commandLine);
