import { createHmac } from "node:crypto";

/**
 * Tells visitors of a day apart without keeping who they are: a keyed hash of the network and one of the User-Agent,
 * added up, so that each can be remembered alone. What is stored is another hash of it, under the day's salt.
 */
export type HashPart = (kind: "network" | "agent", text: string) => number;

const room = 2 ** 53;

export const createVisitorHash =
  (secret: Uint8Array): HashPart =>
  (kind, text) => {
    const digest = createHmac("sha256", secret).update(`${kind} ${text}`).digest();
    return digest.readUIntBE(0, 6) * 32 + ((digest[6] ?? 0) & 31);
  };

/** Both parts modulo 2^53, and never 0, which stands for a visitor who may not be recognised. */
export function joinParts(network: number, agent: number): number {
  const left = room - network;
  const sum = agent < left ? network + agent : agent - left;
  return sum === 0 ? 1 : sum;
}
