import type { Logger } from "../../base/log.ts";
import type { Provider } from "./provider.ts";

/** For development: a server without SMTP_URL writes emails to its log, from which their links can be copied. */
export function createLogProvider(log: Logger): Provider {
  return {
    name: "log",
    async send({ id, to, subject, text }) {
      log.info({ email: id, to, subject, text }, "email written to the log because SMTP_URL is not set");
      return { kind: "accepted", providerId: null };
    },
    async close() {},
  };
}
