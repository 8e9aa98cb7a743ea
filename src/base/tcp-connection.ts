import { dlopen, ptr } from "bun:ffi";
import { readdirSync } from "node:fs";

/**
 * What the kernel knows about a TCP connection but Bun does not expose: how many bytes the peer has acknowledged. Also
 * a hard close that a client cannot delay: Bun's only timeout restarts with every acknowledged byte.
 *
 * Linux only. On other systems, or if libc cannot be loaded, no connection is ever found.
 */
export interface TcpConnection {
  /** Bytes that the peer has acknowledged. `undefined` once the connection is closed. */
  takenBytes(): number | undefined;
  /** Closes it at once, dropping what is still buffered. */
  reset(): void;
}

export interface Peer {
  readonly address: string;
  readonly port: number;
}

const int = "int" as const;
const pointer = "ptr" as const;
const signatures = {
  inet_pton: { args: [int, pointer, pointer], returns: int },
  getpeername: { args: [int, pointer, pointer], returns: int },
  getsockname: { args: [int, pointer, pointer], returns: int },
  getsockopt: { args: [int, int, int, pointer, pointer], returns: int },
  setsockopt: { args: [int, int, int, pointer, int], returns: int },
  shutdown: { args: [int, int], returns: int },
} as const;

// Linux constants, the same on x64 and arm64.
const [inet, inet6] = [2, 10];
const [tcpLevel, tcpInfo, bytesAckedAt] = [6, 11, 120];
const [socketLevel, linger, bothWays] = [1, 13, 2];
const names = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

type Libc = ReturnType<typeof dlopen<typeof signatures>>["symbols"];
let loaded: Libc | null | undefined;

function libc(): Libc | null {
  if (loaded !== undefined) return loaded;
  loaded = null;
  for (const name of process.platform === "linux" ? names : []) {
    try {
      loaded = dlopen(name, signatures).symbols;
      break;
    } catch {
      // another libc, or none that can be loaded
    }
  }
  return loaded;
}

/** Scans all open files of this process: about a millisecond for a thousand. */
export function findTcpConnection(localPort: number, peer: Peer): TcpConnection | undefined {
  const c = libc();
  if (c === null) return undefined;
  const wanted = addressBytes(c, peer.address);
  if (wanted === undefined) return undefined;

  const isIt = (fd: number): boolean => {
    const [there, here] = [socketName(c.getpeername, fd), socketName(c.getsockname, fd)];
    return there?.port === peer.port && here?.port === localPort && wanted.equals(there.address);
  };
  const fd = readdirSync("/proc/self/fd").map(Number).find(isIt);
  if (fd === undefined) return undefined;

  // The descriptor may have been reused for another connection, so it is compared before each use. Bun closes
  // connections on this thread, so nothing changes in between.
  return {
    takenBytes() {
      const [info, length] = [Buffer.alloc(256), new Uint32Array([256])];
      if (!isIt(fd) || c.getsockopt(fd, tcpLevel, tcpInfo, ptr(info), ptr(length)) !== 0) return undefined;
      return (length[0] ?? 0) < bytesAckedAt + 8 ? undefined : Number(info.readBigUInt64LE(bytesAckedAt));
    },
    reset() {
      if (!isIt(fd)) return;
      const atOnce = new Int32Array([1, 0]);
      c.setsockopt(fd, socketLevel, linger, ptr(atOnce), atOnce.byteLength);
      // Bun notices and closes it, so that Bun stays the owner of the descriptor.
      c.shutdown(fd, bothWays);
    },
  };
}

type NameOf = Libc["getpeername"];

/** The address as IPv6; IPv4 addresses are mapped. */
function socketName(nameOf: NameOf, fd: number): { readonly address: Buffer; readonly port: number } | undefined {
  const [name, length] = [Buffer.alloc(28), new Uint32Array([28])];
  if (nameOf(fd, ptr(name), ptr(length)) !== 0) return undefined;
  const [family, port] = [name.readUInt16LE(0), name.readUInt16BE(2)];
  if (family === inet) return { port, address: Buffer.concat([mappedPrefix, name.subarray(4, 8)]) };
  return family === inet6 ? { port, address: name.subarray(8, 24) } : undefined;
}

const mappedPrefix = Buffer.from("00000000000000000000ffff", "hex");

function addressBytes(c: Libc, address: string): Buffer | undefined {
  const plain = address.split("%", 1)[0] ?? "";
  const [text, bytes] = [Buffer.from(`${plain.includes(":") ? "" : "::ffff:"}${plain}\0`), Buffer.alloc(16)];
  return c.inet_pton(inet6, ptr(text), ptr(bytes)) === 1 ? bytes : undefined;
}
