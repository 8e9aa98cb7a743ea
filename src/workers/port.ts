import { createServer } from "node:net";

/**
 * Throws EADDRINUSE if somebody listens there. Workers share their port with whoever of the same user asks to, so a second
 * supervisor would go unnoticed; a socket that shares with nobody finds out. It is closed again before the workers start:
 * what takes the port in that moment is not noticed, and that is good enough.
 */
export function requireFreePort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()));
  });
}
