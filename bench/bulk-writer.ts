/**
 * Sends bulk requests one after the other. Arguments: URL, key, number of requests, links per request. It is a separate
 * process, so that building and parsing large bodies does not delay the client that measures time. Prints the number of
 * links it created.
 */
const [url = "", key = "", posts = "", each = ""] = Bun.argv.slice(2);

const links = Array.from({ length: Number(each) }, (_, i) => ({ url: `https://example.com/bulk/${i}` }));
const body = JSON.stringify({ links });
let made = 0;
for (let i = 0; i < Number(posts); i++) {
  const response = await fetch(`${url}/api/links/bulk`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
  });
  const answer = (await response.json()) as { created?: number };
  if (answer.created !== links.length) throw new Error(`${response.status} ${JSON.stringify(answer).slice(0, 500)}`);
  made += answer.created;
}
console.log(made);

export {};
