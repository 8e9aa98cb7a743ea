/** The least that Bun can do for a redirect: a constant 302. Arguments: port and destination. */
const [port, location = ""] = Bun.argv.slice(2);

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  development: false,
  fetch: () => new Response(null, { status: 302, headers: { Location: location } }),
});
