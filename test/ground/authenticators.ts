/** Pages in Chromium with a virtual authenticator: a device for passkeys that needs no finger. */
import type { Page } from "playwright-core";

export type Authenticator = {
  /** What the device keeps. */
  credentials(): Promise<readonly Credential[]>;
  addCredential(credential: Credential): Promise<void>;
  /** Afterwards the page has no device, and may get another one. */
  remove(): Promise<void>;
};

export type Credential = {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly rpId?: string;
  readonly privateKey: string;
  readonly userHandle?: string;
  readonly signCount: number;
};

/** A device of this page that makes and uses passkeys by itself. */
export async function addAuthenticator(page: Page, { verifiesUser = true } = {}): Promise<Authenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      ...{ protocol: "ctap2", transport: verifiesUser ? "internal" : "usb", hasResidentKey: true },
      ...{ hasUserVerification: verifiesUser, isUserVerified: verifiesUser, automaticPresenceSimulation: true },
    },
  });
  return {
    credentials: async () => (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
    addCredential: async (credential) => {
      await session.send("WebAuthn.addCredential", { authenticatorId, credential });
    },
    remove: async () => {
      await session.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId });
      await session.detach();
    },
  };
}
