/** The least that Bun can do for a redirect: PORT and the address on the command line, a constant 302. */
const [port, location = ""] = Bun.argv.slice(2);

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  development: false,
  fetch: () => new Response(null, { status: 302, headers: { Location: location } }),
});
