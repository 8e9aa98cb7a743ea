import { expect, test } from "bun:test";
import { connect } from "node:net";
import { until } from "../../test/ground/process.ts";
import { findTcpConnection, type TcpConnection } from "./tcp-connection.ts";

/** A server on all addresses, and the connection that one request came by. */
async function connected(address: string) {
  const found = Promise.withResolvers<TcpConnection | undefined>();
  const answered = Promise.withResolvers<void>();
  const server = Bun.serve({
    hostname: "::",
    port: 0,
    fetch(request, self) {
      const peer = self.requestIP(request);
      found.resolve(peer === null ? undefined : findTcpConnection(self.port ?? 0, peer));
      return new Response("x".repeat(1_000));
    },
  });
  const socket = connect(server.port ?? 0, address);
  let received = 0;
  socket.on("data", (chunk) => {
    received += chunk.length;
    if (received > 1_000) answered.resolve();
  });
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  socket.on("error", () => {});
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await answered.promise;
  return { connection: await found.promise, received: () => received, closed, socket, server };
}

for (const address of ["127.0.0.1", "::1"]) {
  test(`a connection from ${address} tells what was taken, and ends when it is reset`, async () => {
    const { connection, received, closed, socket, server } = await connected(address);
    if (process.platform === "linux") {
      await until("all of it to be acknowledged", () => connection?.takenBytes() === received() || undefined);
      connection?.reset();
      await closed;
      await until("the server to close it", () => connection?.takenBytes() === undefined || undefined);
    } else {
      expect(connection).toBeUndefined();
    }
    socket.destroy();
    await server.stop(true);
  });
}

test("a connection that this process does not have is not found", () => {
  expect(findTcpConnection(1, { address: "192.0.2.1", port: 1 })).toBeUndefined();
  expect(findTcpConnection(1, { address: "no address", port: 1 })).toBeUndefined();
});
