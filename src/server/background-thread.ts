import { messageOf, Problem } from "../base/errors.ts";
import { createLog } from "../base/log.ts";
import { loadConfig } from "../config/config.ts";
import { type Core, openCore } from "../core.ts";
import {
  type Background,
  isSet,
  type SentOutcome,
  type SentProblem,
  type SentResult,
  type ThreadMessage,
  type ToThread,
} from "./background.ts";
import { onThisThread } from "./background-work.ts";
import { waitBy } from "./lateness.ts";
import { lowerThreadPriority } from "./thread-priority.ts";

/** The other side of `background.ts`, which decides how many jobs run here at a time. Has its own connections. */
declare const self: { onmessage: (event: MessageEvent<ToThread>) => void; postMessage(message: ThreadMessage): void };

let core: Promise<Core> | undefined;
let lateness: Int32Array | undefined;

self.onmessage = ({ data: message }) => void handle(message);

async function handle(message: ToThread): Promise<void> {
  if (message.kind === "open") {
    lowerThreadPriority();
    const config = loadConfig(message.settings, "/");
    lateness = message.lateness;
    core = openCore(config, {
      log: createLog("silent", { write() {} }, false, () => 0),
      isStopping: () => isSet(message.stopping),
      givesWay: true,
    });
    core.catch(() => {}); // reported to callers that send work
  } else if (message.kind === "close") {
    await core?.then((open) => open.close()).catch(() => {}); // if it could not be opened, there is nothing to close
    self.postMessage({ kind: "closed" });
  } else {
    try {
      if (core === undefined || lateness === undefined)
        throw new Error("background thread received work before its settings");
      self.postMessage({
        kind: "done",
        id: message.id,
        result: await work(onThisThread(await core, waitBy(lateness)), message),
      });
    } catch (error) {
      const { id } = message;
      if (error instanceof Problem) {
        self.postMessage({ kind: "refused", id, problem: sent(error) });
        return;
      }
      self.postMessage({ kind: "failed", id, message: messageOf(error), code: codeOf(error) });
    }
  }
}

async function work(background: Background, job: Extract<ToThread, { id: number }>): Promise<unknown> {
  if (job.kind === "clean") return background.clean();
  if (job.kind === "recount") return background.recount(job.tenant, job.dryRun);
  if (job.kind === "findClickNotices") return background.findClickNotices();
  if (job.kind === "nearLimits") return background.nearLimits();
  if (job.kind === "applyBlocklist") return background.applyBlocklist();
  if (job.kind === "condenseClicks") return background.condenseClicks();
  if (job.kind === "purgeClicks") return background.purgeClicks();
  if (job.kind === "forgetVisitors") return background.forgetVisitors();
  if (job.kind === "moveLog") return background.moveLog();
  if (job.kind === "tags") return background.tags(job.tenant, job.prefix);
  if (job.kind === "importStep") return background.importStep();
  if (job.kind === "find") return background.find(job.tenant, job.query);
  if (job.kind === "countLinks") return background.countLinks(job.tenant, job.filter, job.facts);
  if (job.kind === "trends") return background.trends(job.tenant, job.query);
  if (job.kind === "report") return background.report(job.tenant, job.subject, job.query);
  if (job.kind === "clicks") return background.clicks(job.tenant, job.subject, job.query);
  if (job.kind === "exportPart") return background.exportPart(job.tenant, job.place);
  if (job.kind === "busiest") return background.busiest(job.tenant);
  if (job.kind === "runSteps") {
    const outcomes = await background.runSteps(job.tenant, job.steps, job.by);
    return outcomes.map((one): SentOutcome => (one.kind === "failed" ? { ...one, problem: sent(one.problem) } : one));
  }
  const results = await background.createMany(job.tenant, job.inputs, job.by, job.atomic);
  return results.map((result): SentResult => ("link" in result ? result : { problem: sent(result.problem) }));
}

const sent = ({ code, detail, more }: Problem): SentProblem => ({ code, detail, more });

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
