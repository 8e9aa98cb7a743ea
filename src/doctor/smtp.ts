import { withDeadline } from "../base/deadline.ts";
import { type Check, fail, ok } from "./finding.ts";

const name = "email";
const connectMs = 5_000;
const deadlineMs = 10_000;

/** Whether the mail server accepts our login. Nothing is sent. */
export const checkEmail: Check = async ({ SMTP_URL: url }) => {
  if (url === undefined) {
    return [
      ok(name, "SMTP_URL is not set: emails are written to the log, unless a workspace has its own SendGrid key"),
    ];
  }
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    url,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    dnsTimeout: connectMs,
    socketTimeout: connectMs,
  });
  try {
    await withDeadline(transport.verify(), deadlineMs, "the mail server");
    return [ok(name, `the mail server at ${new URL(url).host} accepts our login`)];
  } catch (error) {
    return [fail(name, error, "Fix SMTP_URL, or start the mail server. Until then, emails wait and eventually fail.")];
  } finally {
    transport.close();
  }
};
