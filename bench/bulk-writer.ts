/**
 * Posts bulk requests one after the other: URL, key, how many, how many links each. A process of its own, so that
 * making and reading large bodies does not hold up the client that takes the time. Prints the links it made.
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
