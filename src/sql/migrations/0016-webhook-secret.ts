import type { Types } from "../migrate.ts";

/**
 * The secret part of the URL to which a tenant's SendGrid account sends its events. Tenants with existing settings get
 * one here.
 */
export const webhookSecret = (t: Types): string[] => [
  `alter table email_settings add column webhook_secret ${t.key}`,
  `update email_settings set webhook_secret = ${t.randomSecret}`,
];
