/**
 * Free ports below 32768, where Linux starts taking ports for outgoing connections: one that the system chose itself
 * could be taken by any client before our server binds it.
 */
const lowest = 20_000;
const highest = 32_000;
const attempts = 100;
const given = new Set<number>();

// Each process draws from its own part: what another one was just given looks free until its server listens.
const partSize = 200;
const parts = (highest - lowest) / partSize;
const first = lowest + (process.pid % parts) * partSize;

export function freePort(): number {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = first + Math.floor(Math.random() * partSize);
    if (given.has(port) || !isFree(port)) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no free port between ${first} and ${first + partSize} in ${attempts} attempts`);
}

export function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
