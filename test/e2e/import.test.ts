import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DnsServer, startDns } from "../ground/dns.ts";
import { postgresAvailable, startPostgres } from "../ground/postgres.ts";
import { cleanEnvironment, startProcess, until } from "../ground/process.ts";
import { cli, cliProcess, program } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { databases, type LinkBody, must, query, type Site, startSite } from "./servers.ts";

const root = join(import.meta.dir, "../..");
const docs = readFileSync(join(root, "docs/import.md"), "utf8");

interface Result {
  readonly rows: number;
  readonly made: number;
  readonly present: number;
  readonly refused: number;
  readonly dryRun: boolean;
}

/** As `docs/coherence.md` promises for the command line. What memory has forgotten by itself takes 30 s. */
const withinMs = 3_000;

const folder = tempFolder("import");
let files = 0;

function file(content: string | Uint8Array, name = `links-${++files}`): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe.each([...databases])("importing into %s", (database) => {
  const published = new Map<string, string>();
  let dns: DnsServer;
  let site: Site;

  beforeAll(async () => {
    dns = await startDns(
      () => undefined,
      (name) => [published.get(name) ?? ""],
    );
    const settings = { QL_BLOCKLIST: file("blocked.example\n"), QL_BASE_URL: "http://s.test" };
    const started = await startSite(database, { QL_DNS_SERVERS: dns.address, ...settings });
    site = { ...started, cli: (...args) => cli(args, { env: { ...started.env, ...settings } }) };
  }, 60_000);

  afterAll(async () => {
    await site.server.stop();
    dns.stop();
  });

  /** A verified domain of the tenant. */
  async function own(host: string): Promise<void> {
    const added = await site.call("POST", "/api/domains", { body: { host } });
    const { proof } = added.json<{ proof: { txt: { name: string; value: string } } }>();
    published.set(proof.txt.name, proof.txt.value);
    expect((await site.call("POST", `/api/domains/${host}/verify`)).status).toBe(200);
  }

  /** The result of importing a file, and what was printed. */
  async function take(path: string, ...options: string[]): Promise<Result & { code: number; said: string }> {
    const { code, stdout, stderr } = await site.cli("import", path, "--json", ...options);
    if (stdout === "") throw new Error(stderr);
    return { ...(JSON.parse(stdout) as Result), code, said: stderr };
  }

  const leadsTo = async (code: string) => (await site.reach(`/${code}`)).headers.get("location");

  const count = async (where: string): Promise<number> =>
    Number(
      await query(site.env, `select count(*) as n from links where ${where}`).then(
        ([row]) => (row as { n: unknown }).n,
      ),
    );

  describe("clicks in another shortener", () => {
    const shlinkColumns = "createdAt,domain,shortCode,shortUrl,longUrl,title,tags,visits";
    const shlinkRow = (code: string, visits: string) =>
      `2024-03-05T10:11:12Z,s.example,${code},https://s.example/${code},https://example.com/${code},,,${visits}`;
    const history = async (codes: string) =>
      (
        (await query(
          site.env,
          `select l.code, h.source, h.clicks, h.start from click_history h join links l on l.number = h.link and l.tenant_id = h.tenant_id
            where l.code like '${codes}' order by l.code`,
        )) as { code: string; source: string; clicks: unknown; start: unknown }[]
      ).map(({ code, source, clicks, start }) => [code, source, Number(clicks), Number(start)]);

    test("are kept as one total since the link was created, with the name of the shortener", async () => {
      const at = Date.parse("2024-03-05T10:11:12Z");
      await take(
        file([shlinkColumns, shlinkRow("past-a", "12"), shlinkRow("past-b", "0"), shlinkRow("past-c", "")].join("\n")),
      );
      await take(
        file("keyword,url,title,timestamp,ip,clicks\npast-d,https://example.com/d,,2024-03-05 10:11:12,,42\n"),
      );
      const kutt = {
        address: "past-e",
        target: "https://example.com/e",
        visit_count: 3,
        created_at: "2024-03-05T10:11:12.000Z",
      };
      await take(file(JSON.stringify(kutt), "past.jsonl"));
      expect(await history("past-%")).toEqual([
        ["past-a", "shlink", 12, at],
        ["past-d", "yourls", 42, at],
        ["past-e", "kutt", 3, at],
      ]);
    });

    test("of a link that is older than all reports are shown, in every zone", async () => {
      await take(
        file("keyword,url,title,timestamp,ip,clicks\nancient,https://example.com/old,,2009-03-05 10:11:12,,42\n"),
      );
      for (const zone of ["UTC", "Pacific/Kiritimati", "Etc/GMT+12"]) {
        const address = `/api/stats?from=2012-01-01&to=2012-01-02&zone=${encodeURIComponent(zone)}&breakdown=`;
        const reply = await site.call("GET", address);
        expect([zone, reply.json<{ imported: unknown }>().imported]).toMatchObject([zone, { clicks: 42, undated: 42 }]);
      }
    });

    /** What a report on the last days says about clicks imported for this link alone. */
    const importedOf = async (code: string) => {
      const { id } = JSON.parse(must(await site.cli("link", "get", code, "--json"))) as LinkBody;
      const reply = await site.call("GET", `/api/links/${id}/stats?from=2024-03-01&interval=month`);
      const { imported } = reply.json<{ imported: { undated: number; series: { start: string; clicks: number }[] } }>();
      const dated = imported.series.filter(({ clicks }) => clicks > 0);
      return { undated: imported.undated, dated };
    };

    test("have no day, whenever the link was created here: not even those of a file without dates", async () => {
      await take(file("source,target,hits\n/blogg/,https://example.com/blogg,7000\n"));
      expect(await importedOf("blogg")).toEqual({ undated: 7_000, dated: [] });
      await site.create({ url: "https://example.com/lately", code: "lately" });
      expect(await take(file(`${shlinkColumns}\n${shlinkRow("lately", "77")}\n`))).toMatchObject({ present: 1 });
      expect(await importedOf("lately")).toEqual({ undated: 77, dated: [] });
      // The date of the file, and not that of the link.
      expect(await history("lately")).toEqual([["lately", "shlink", 77, Date.parse("2024-03-05T10:11:12Z")]]);
    });

    test("are replaced when the link is imported again, and counted once", async () => {
      const first = file(`${shlinkColumns}\n${shlinkRow("twice", "12")}\n`);
      await take(first);
      expect(await take(first, "--again")).toMatchObject({ made: 0, present: 1 });
      expect((await history("twice")).map(([, , clicks]) => clicks)).toEqual([12]);
      await take(file(`${shlinkColumns}\n${shlinkRow("twice", "15")}\n`));
      expect((await history("twice")).map(([, , clicks]) => clicks)).toEqual([15]);
    });

    test("that are no number refuse the row with the name of the column, and a dry run stores none", async () => {
      const refused = await take(file(`${shlinkColumns}\n${shlinkRow("many", "-3")}\n${shlinkRow("some", "1e9")}\n`));
      expect(refused).toMatchObject({ made: 0, refused: 2 });
      expect(refused.said).toContain("visits: Must be a whole number of at least 0.");
      await take(file(`${shlinkColumns}\n${shlinkRow("dry", "5")}\n`), "--dry-run");
      expect(await history("dry")).toEqual([]);
    });
  });

  test("every example of docs/import.md is imported, and its format detected", async () => {
    const examples = [...docs.matchAll(/^```(?:csv|json) import ?(\w*)\n([\s\S]*?)^```$/gm)];
    expect(examples.map(([, who]) => who)).toEqual(["", "", "shlink", "yourls", "yourls", "kutt", "bitly"]);
    for (const [, who = "", content = ""] of examples) {
      const { made, refused, code, said } = await take(file(content));
      expect({ made, refused, code, said: said.trim() }).toEqual({
        made: content.trimEnd().split("\n").length - (content.startsWith("{") ? 0 : 1),
        ...{ refused: 0, code: 0, said: who === "" ? "" : `Detected format: ${who}.` },
      });
    }
    expect(await leadsTo("sale")).toBe("https://example.com/sale");
    for (const code of ["jobs", "guide", "shop", "blog", "launch", "autumn"]) {
      expect(await leadsTo(code)).toBe(`https://example.com/${code}`);
    }
    const shop = must(await site.cli("link", "get", "shop", "--json"));
    expect(JSON.parse(shop)).toMatchObject({ title: "Shop", expiresAt: null, createdAt: "2023-01-02T03:04:05.000Z" });
  }, 60_000);

  test("a creation date in the future refuses the row; one that is hours ahead was written in another zone", async () => {
    const soon = new Date(Date.now() + 13 * 3_600_000).toISOString();
    const rows = [`2030-01-02T03:04:05Z,https://example.com/1,ahead-a`, `${soon},https://example.com/2,ahead-b`];
    const content = ["createdAt,url,code", ...rows].join("\n");
    expect(await take(file(content), "--dry-run")).toMatchObject({ made: 1, refused: 1 });
    const taken = await take(file(content));
    expect(taken).toMatchObject({ made: 1, refused: 1 });
    expect(taken.said).toContain("createdAt: Must not be in the future.");
    const { createdAt } = JSON.parse(must(await site.cli("link", "get", "ahead-b", "--json"))) as { createdAt: string };
    expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.now());
  });

  test("bad rows are reported with their lines, in a file too, and the good ones are imported", async () => {
    const errors = join(folder, `errors-${++files}`);
    const path = file(
      [
        "url,code,title,expiresAt,hitsPerMonth",
        "https://example.com/1,good-1,,,",
        "ftp://example.com/,,,,",
        "https://example.com/2,api,,,",
        `https://example.com/3,,${"x".repeat(300)},,`,
        "https://example.com/4,,,2001-01-01,",
        "https://example.com/5,,,soon,",
        "https://example.com/6,,,,many",
        'https://example.com/7,,"open,,',
        "https://example.com/8,x,,,",
        "https://example.com/9,good-9,,,",
      ].join("\n"),
    );
    const { made, refused, code } = await take(path, "--errors", errors);
    expect({ made, refused, code }).toEqual({ made: 2, refused: 8, code: 1 });
    const told = readFileSync(errors, "utf8").trimEnd().split("\n");
    expect(told.map((line) => line.split(/[:\t]/).slice(0, 2).join(" "))).toEqual([
      "3 url",
      "4 code",
      "5 title",
      "6 expiresAt",
      "7 expiresAt",
      "8 hitsPerMonth",
      "9 has a quote that is never closed",
      "10 code",
    ]);
    expect(await leadsTo("good-9")).toBe("https://example.com/9");
  });

  test("a dry run says what would happen, and changes nothing", async () => {
    await site.create({ url: "https://example.com/mine", code: "dry-mine" });
    const before = await site.rows();
    // Not "groups": a job numbers the tags that get reports of their own.
    const counters = () =>
      query(site.env, "select name, next from counters where name in ('codes', 'links') order by name");
    const counter = await counters();
    const path = file(
      "url,code\nhttps://example.com/,\nhttps://example.com/mine,dry-mine\nhttps://example.com/other,dry-mine\nhttps://example.com/,dry-new\nnowhere,\n",
    );
    const { made, present, refused, dryRun, said } = await take(path, "--dry-run");
    expect({ made, present, refused, dryRun }).toEqual({ made: 2, present: 1, refused: 2, dryRun: true });
    expect(said).toContain('line 4: code: "dry-mine" is taken: your link with this code has another destination.');
    expect(await site.rows()).toEqual(before);
    expect(await counters()).toEqual(counter);
  });

  test("a taken code is left unchanged", async () => {
    const key = await site.tenant(`stranger-${database.toLowerCase()}`);
    await site.call("POST", "/api/links", { key, body: { url: "https://example.com/theirs", code: "their-own" } });
    const { said, made, refused } = await take(file("url,code\nhttps://example.com/theirs,their-own\n"));
    expect({ made, refused }).toEqual({ made: 0, refused: 1 });
    expect(said).toContain("another link has it, or had it");
    expect(await leadsTo("their-own")).toBe("https://example.com/theirs");
  });

  test("links on a custom domain, to files and with rules come back unchanged from both formats", async () => {
    await own("go.example.com");
    const { id: stored } = await site.store("hello");
    const full = {
      rules: [
        {
          when: { country: ["DE"], hours: { zone: "Europe/Berlin", from: "09:00", until: "17:30" } },
          url: "https://example.com/de",
        },
      ],
      split: [1, 2].map((weight) => ({ url: `https://example.com/split-${weight}`, weight })),
      utm: { source: 'news, and "more"' },
      forwardQuery: true,
      clickFacts: false,
    };
    const made = [
      await site.create({ url: "https://example.com/full", code: "both", ...full, expiresAt: null }),
      await site.create({ url: "https://example.com/theirs", code: "both", domain: "go.example.com" }),
      await site.create({ file: stored, code: "to-file" }),
    ];
    for (const format of ["csv", "jsonl"]) {
      const out = join(folder, `all-${database}.${format}`);
      must(await site.cli("export", "--format", format, "--out", out));
      // Everything exists already; nothing is created, and nothing conflicts.
      const again = await take(out);
      expect({ ...again, said: "" }).toMatchObject({ made: 0, refused: 0, said: "" });
      expect((await take(out, "--dry-run")).made).toBe(0);
      for (const { id } of made) expect((await site.call("DELETE", `/api/links/${id}`)).status).toBe(204);
      expect((await site.call("DELETE", "/api/trash")).json()).toMatchObject({ isEmpty: true });
      expect((await take(out, "--again", "--dry-run")).made).toBe(made.length);
      expect(await take(out, "--again")).toMatchObject({ made: made.length, refused: 0 });
      for (const [place, { domain, code, ...link }] of made.entries()) {
        const key = domain === "go.example.com" ? `${domain}/${code}` : code;
        const back = JSON.parse(must(await site.cli("link", "get", key, "--json"))) as LinkBody;
        const { id: _i, version: _v, updatedAt: _u, ...same } = link;
        expect(back).toMatchObject({ ...same, domain, code });
        made[place] = back;
      }
    }
  }, 60_000);

  test("rows with other tenants' or forbidden destinations are refused by their line, also in a dry run", async () => {
    const key = await site.tenant(`other-${database.toLowerCase()}`);
    const theirs = await site.call("POST", "/api/domains", { key, body: { host: "theirs.example.com" } });
    expect(theirs.status).toBe(201);
    const path = file(
      [
        "url,file,domain,password,rules",
        "https://example.com/,,theirs.example.com,,",
        "https://example.com/,,s.test,,",
        ",fil_01234567890123456789012345,,,",
        "https://example.com/,,,true,",
        'https://example.com/,,,,"[{""when"":{""country"":[""DE""]},""url"":""https://blocked.example/""}]"',
        "https://www.blocked.example/,,,,",
        "https://example.com/asked,,own,a new one,",
        "https://example.com/,,,1234,",
      ].join("\n"),
    );
    for (const options of [["--dry-run"], []]) {
      const { made, refused, said } = await take(path, ...options);
      expect({ made, refused }).toEqual({ made: 2, refused: 6 });
      const told = said.split("\n").filter((line) => line.startsWith("line "));
      expect(told.map((line) => line.split(": ").slice(0, 2).join(" "))).toEqual([
        "line 2 domain",
        "line 4 file",
        "line 5 password",
        "line 6 rules.0.url",
        "line 7 url",
        "line 9 password",
      ]);
      expect(said).toContain("line 9: password: Must have at least 8 characters, or at least 6 if all are digits.");
    }
    expect(await count("url = 'https://example.com/asked' and password_hash is not null")).toBe(1);
  });

  test("a running server that knew a code to be missing serves it", async () => {
    expect((await site.reach("/soon-there")).status).toBe(404);
    await take(file("url,code\nhttps://example.com/now,soon-there\n"));
    await until("the link", async () =>
      (await leadsTo("soon-there")) === "https://example.com/now" ? true : undefined,
    );
  });

  test("a running server that knew codes of a large file to be missing serves all of them", async () => {
    const codes = Array.from({ length: 150 }, (_, i) => `soon-${i}`);
    const some = [0, 63, 64, 128, 149].map((place) => codes[place] ?? "");
    for (const code of some) expect((await site.reach(`/${code}`)).status).toBe(404);
    await take(file(["url,code", ...codes.map((code) => `https://example.com/${code},${code}`)].join("\n")));
    for (const code of some) {
      await until(
        `the link ${code}`,
        async () => ((await leadsTo(code)) === `https://example.com/${code}` ? true : undefined),
        withinMs,
      );
    }
  });

  test("the same file is imported once, and again only with --again; standard input always", async () => {
    const path = file("url\nhttps://example.com/once\n");
    const once = "url = 'https://example.com/once'";
    expect((await take(path)).made).toBe(1);
    expect((await take(path)).said).toContain("This file was already imported on");
    expect((await take(file(readFileSync(path), "another-name"))).said).toContain("This file was already imported on");
    expect(await count(once)).toBe(1);
    expect((await take(path, "--again", "--rate", "1000")).made).toBe(1);
    expect(await count(once)).toBe(2);
    const piped = await cliProcess(["import", "-"], { env: site.env, input: readFileSync(path, "utf8") });
    expect(must(piped)).toBe("1 links created, 0 already present, 0 rows rejected\n");
    expect(await count(once)).toBe(3);
  });

  test("a killed import continues where it was, and creates no link twice", async () => {
    // Ten batches, half a second each, so that it is killed in the middle on a slow machine too.
    const [rows, rate] = [2_500, "500"];
    const lines = Array.from(
      { length: rows },
      (_, i) => `https://example.com/killed/${i},${i % 3 === 0 ? `killed-${i}` : ""}`,
    );
    // One bad row in the first batch.
    const path = file(`url,code\nftp://example.com/,\n${lines.join("\n")}\n`);
    const errors = ["--errors", join(folder, `errors-${++files}`)] as const;
    const there = () => count("url like 'https://example.com/killed/%'");
    let kills = 0;
    for (let seen = 0; kills < 3; kills++) {
      const child = startProcess([...program, "import", path, "--rate", rate, ...errors], {
        cwd: root,
        env: cleanEnvironment(site.env),
      });
      const before = seen;
      seen = await until("some links", async () => {
        const now = await there();
        return now > before ? now : undefined;
      });
      await until("the bad row to be told", () => readFileSync(errors[1], "utf8").startsWith("2\turl") || undefined);
      await child.kill();
    }
    const left = await there();
    expect(left).toBeLessThan(rows);
    const { rows: read, made, refused, said } = await take(path, ...errors);
    expect({ read, made, refused }).toEqual({ read: rows + 1, made: rows, refused: 1 });
    expect(readFileSync(errors[1], "utf8").trimEnd().split("\n")).toHaveLength(1);
    expect(said).toContain("Continuing after line");
    const [row] = await query(
      site.env,
      "select count(*) as n, count(distinct url) as urls from links where url like 'https://example.com/killed/%'",
    );
    expect(Object.values(row as object).map(Number)).toEqual([rows, rows]);
  }, 60_000);

  test("two imports of one file at once create its links once", async () => {
    const lines = Array.from({ length: 1_500 }, (_, i) => `https://example.com/both/${i}`);
    const path = file(`url\n${lines.join("\n")}\n`);
    const importing = () => cliProcess(["import", path], { env: site.env });
    const both = await Promise.all([importing(), importing()]);
    expect(both.some(({ code }) => code === 0)).toBe(true);
    for (const { code, stderr } of both)
      if (code !== 0) expect(stderr).toContain("Another process is importing this file");
    expect(await count("url like 'https://example.com/both/%'")).toBe(1_500);
  });

  test("an export is imported unchanged into another tenant", async () => {
    const slug = `copy-${database.toLowerCase()}`;
    await site.tenant(slug);
    const fields = {
      title: "=SUM(A1)",
      notes: 'two\nlines, "quoted"',
      tags: ["a,b", "c"],
      hitsPerMonth: 7,
      clickFacts: false,
      permanent: true,
    };
    await site.create({ url: "https://example.com/full", code: "exported", ...fields, expiresAt: null });
    const out = join(folder, `out-${++files}.csv`);
    must(await site.cli("export", "--out", out));
    const csv = readFileSync(out, "utf8");
    expect(csv).toContain(",'=SUM(A1),");
    // Their codes are taken here, by the links themselves.
    const unclaimed = csv.replaceAll(/^own,exported,/gm, "own,exported-too,");
    const { made } = await take(file(unclaimed), "--tenant", slug);
    expect(made).toBeGreaterThan(0);
    const copy = must(await site.cli("link", "get", "exported-too", "--tenant", slug, "--json"));
    expect(JSON.parse(copy)).toMatchObject({ url: "https://example.com/full", ...fields, expiresAt: null });
    const lines = must(await site.cli("export", "--tenant", slug, "--format", "jsonl"))
      .trimEnd()
      .split("\n");
    expect(lines).toHaveLength(made);
  }, 60_000);

  test("reports what is wrong with an unreadable file", async () => {
    for (const [path, status, sentence] of [
      [join(folder, "nowhere"), 2, "Cannot read"],
      [folder, 2, "is not a file"],
      [file(Buffer.from("\ufeffurl\n", "utf16le")), 1, "UTF-16"],
      [file("a,b\n"), 1, "expected url"],
      ["--rate=fast", 2, "Must be a whole number of rows"],
    ] as const) {
      const { code, stderr } = await site.cli("import", path);
      expect([code, stderr]).toEqual([status, expect.stringContaining(sentence)]);
    }
  });
});

if (postgresAvailable()) {
  test("an import whose PostgreSQL dies says so, and continues when it is back", async () => {
    const postgres = await startPostgres({ durable: true });
    try {
      const env = { DATABASE_URL: await postgres.createDatabase("import"), QL_CODE_SALT: "a salt for imports" };
      must(await cli(["migrate"], { env }));
      must(await cli(["tenant", "create", "default"], { env }));
      const rows = 2_500;
      const path = file(`url\n${Array.from({ length: rows }, (_, i) => `https://example.com/${i}`).join("\n")}\n`);
      const importing = cli(["import", path, "--rate", "500"], { env });
      const count = async () =>
        Number(((await query(env, "select count(*) as n from links")) as { n: string }[])[0]?.n);
      await until("some links", async () => ((await count()) > 0 ? true : undefined));
      await postgres.kill();
      const { code, stderr } = await importing;
      expect([code, stderr]).toEqual([1, expect.stringContaining("Run the same command again to continue")]);
      await postgres.restart();
      expect(await count()).toBeLessThan(rows);
      expect(must(await cli(["import", path], { env }))).toContain("2,500 links created");
      const distinct = await query(env, "select count(*)::int as n, count(distinct url)::int as urls from links");
      expect(distinct).toEqual([{ n: rows, urls: rows }]);
    } finally {
      await postgres.stop();
    }
  }, 90_000);
}
