import { createServer } from "node:net";

/**
 * Throws EADDRINUSE if another process listens on the port. Workers share their port with any process of the same user
 * that asks to share it, so a second supervisor would go unnoticed. A socket that does not share the port detects it.
 * The socket is closed before the workers start. A process that takes the port in that moment is not detected, which is
 * acceptable.
 */
export function requireFreePort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()));
  });
}
