/**
 * Free ports below 32768, where Linux starts taking ports for outgoing connections: one that the system chose itself
 * could be taken by any client before our server binds it.
 */
const lowest = 20_000;
const highest = 32_000;
const attempts = 100;
const given = new Set<number>();

const partSize = 200;
const parts = (highest - lowest) / partSize;
let part: number | undefined;

export function freePort(): number {
  part ??= ownPart();
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = part + 1 + Math.floor(Math.random() * (partSize - 1));
    if (given.has(port) || !isFree(port)) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no free port between ${part} and ${part + partSize} in ${attempts} attempts`);
}

/**
 * Each process draws from its own part: what another one was just given looks free until its server listens, and again
 * while that restarts. It keeps the first port of its part to itself for as long as it lives.
 */
function ownPart(): number {
  const starts = Array.from({ length: parts }, (_, i) => lowest + ((process.pid + i) % parts) * partSize);
  const [any = lowest] = starts;
  return starts.find((start) => hold(start) !== undefined) ?? any;
}

export function isFree(port: number): boolean {
  const held = hold(port);
  held?.stop(true);
  return held !== undefined;
}

function hold(port: number): { stop(closeActive?: boolean): void } | undefined {
  try {
    const listener = Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
    listener.unref();
    return listener;
  } catch {
    return undefined;
  }
}
