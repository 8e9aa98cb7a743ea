import type { Types } from "../migrate.ts";

/** The secret part of the address that a tenant's SendGrid account sends its events to. */
export const webhookSecret = (t: Types): string[] => [`alter table email_settings add column webhook_secret ${t.key}`];
