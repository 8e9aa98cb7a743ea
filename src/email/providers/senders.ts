import type { TenantId } from "../../base/ids.ts";
import type { Mailbox, Provider } from "./provider.ts";

/** Which provider sends a tenant's email, and from which address. */
export interface Sender {
  readonly provider: Provider;
  readonly from: Mailbox;
}

export interface Senders {
  resolve(tenant: TenantId): Promise<Sender>;
  close(): Promise<void>;
}

/** A tenant's SendGrid key and sender, if it has them. */
export type OwnKey = (tenant: TenantId) => Promise<{ readonly key: string; readonly sender: Mailbox } | undefined>;

export interface SenderSettings {
  /** For tenants without their own key: SMTP, or the log. */
  readonly platform: Provider;
  readonly from: Mailbox;
  readonly ownKey: OwnKey;
  readonly withKey: (key: string) => Provider;
}

export function createSenders({ platform, from, ownKey, withKey }: SenderSettings): Senders {
  return {
    async resolve(tenant) {
      const own = await ownKey(tenant);
      return own === undefined ? { provider: platform, from } : { provider: withKey(own.key), from: own.sender };
    },
    close: () => platform.close(),
  };
}
