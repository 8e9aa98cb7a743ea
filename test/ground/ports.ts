/**
 * Free ports below 32768, where Linux starts taking ports for outgoing connections: one that the system chose itself
 * could be taken by any client before our server binds it.
 */
const lowest = 20_000;
const highest = 32_000;
const attempts = 100;
const given = new Set<number>();

export function freePort(): number {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (given.has(port) || !isFree(port)) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no free port between ${lowest} and ${highest} in ${attempts} attempts`);
}

export function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
