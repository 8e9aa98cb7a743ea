/**
 * The process of `awake.ts`: sends the given requests in turn, each connection the next one when it has its answer, and looks for
 * answers without ever waiting for them. Arguments: port, connections, milliseconds, and a file with the requests as JSON.
 */
import { readFileSync } from "node:fs";

const [port, connections, milliseconds, file = ""] = Bun.argv.slice(2);
const requests = (JSON.parse(readFileSync(file, "utf8")) as string[]).map((text) => Buffer.from(text));
const redirected = Buffer.from("HTTP/1.1 302 ");
const endMs = 100;

let [answers, others, ended, next] = [0, 0, 0, 0];
let isOver = false;

function nextRequest(): Buffer {
  const request = requests[next] ?? Buffer.alloc(0);
  next = (next + 1) % requests.length;
  return request;
}

const sockets = await Promise.all(
  Array.from({ length: Number(connections) }, () =>
    Bun.connect({
      hostname: "127.0.0.1",
      port: Number(port),
      socket: {
        // A redirect without a body is one small packet. If it ever came in two, the second would count as something else.
        data(socket, answer) {
          if (answer.compare(redirected, 0, redirected.length, 0, redirected.length) === 0) answers++;
          else others++;
          if (!isOver) socket.write(nextRequest());
        },
        close() {
          if (!isOver) ended++;
        },
      },
    }),
  ),
);

/** With something to do in the next turn, the event loop asks the kernel for answers and does not sleep. */
function stayAwake(): void {
  if (!isOver) setImmediate(stayAwake);
}

const started = performance.now();
stayAwake();
for (const socket of sockets) socket.write(nextRequest());
await Bun.sleep(Number(milliseconds));
isOver = true;
const seconds = (performance.now() - started) / 1_000;
await Bun.sleep(endMs); // the last answers
console.log(JSON.stringify({ answers, others, ended, seconds }));
process.exit();
