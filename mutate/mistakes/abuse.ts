import type { Mistakes } from "../mistake.ts";

const suspensions = ["test/conformance/suspensions.test.ts"];
const blocklist = ["src/abuse/blocklist.test.ts"];

export const abuse: Mistakes = {
  "subdomain-not-blocked": {
    file: "abuse/blocklist.ts",
    from: "if (whole.has(parent) || below.has(parent)) return true;",
    to: "if (below.has(parent)) return true;",
    tests: blocklist,
  },
  "trailing-dot-passes": {
    file: "abuse/blocklist.ts",
    from: 'const name = host.replace(/\\.$/, "");',
    to: "const name = host;",
    tests: blocklist,
  },
  "vanished-list-blocks-nothing": {
    file: "abuse/blocklist.ts",
    from: "    } catch (error) {\n      log.warn(",
    to: "    } catch (error) {\n      list = undefined;\n      log.warn(",
    tests: blocklist,
  },
  "new-version-of-what-was-not-suspended": {
    file: "abuse/suspensions.ts",
    from: "if (numDeletedRows === 0n) throw new NotSuspended();\n          await recordLink",
    to: "if (numDeletedRows === 0n) return undefined;\n          await recordLink",
    tests: suspensions,
  },
  "new-version-of-a-tenant-that-was-not-suspended": {
    file: "abuse/suspensions.ts",
    from: "if (numDeletedRows === 0n) throw new NotSuspended();\n          await recordTenant",
    to: "await recordTenant",
    tests: suspensions,
  },
  "list-frees-what-the-operator-stopped": {
    file: "abuse/suspensions.ts",
    from: 'if (cause !== undefined) query = query.where("cause", "=", cause);',
    to: "",
    tests: suspensions,
  },
  "tenant-suspended-without-a-version": {
    file: "abuse/suspensions.ts",
    from: 'return raiseVersions(sql, trx, [{ kind: "domain", keys }, await raisedTenant(trx, tenant)], clock.now());',
    to: 'return raiseVersions(sql, trx, [{ kind: "domain", keys }], clock.now());',
    tests: ["test/conformance/known-tenants.test.ts"],
    only: "a suspension",
  },
  "operators-reason-overwritten": {
    file: "abuse/apply-blocklist.ts",
    from: "const host = cause === null ? blockedHost(blocklist, row) : undefined;",
    to: "const host = blockedHost(blocklist, row);",
    tests: suspensions,
  },
  "rules-not-looked-at": {
    file: "abuse/apply-blocklist.ts",
    from: "[row.rules, row.split].flatMap(",
    to: "[row.split].flatMap(",
    tests: suspensions,
  },
  "page-of-links-skipped": {
    file: "abuse/apply-blocklist.ts",
    from: "if (last === undefined || rows.length < pageRows) return { looked, suspended };",
    to: "if (last === undefined || rows.length <= pageRows) return { looked, suspended };",
    tests: suspensions,
  },
  "reports-per-link-without-bound": {
    file: "abuse/reports.ts",
    from: 'if (about.length >= openPerLink) return "enough";',
    to: "",
    tests: ["test/conformance/reports.test.ts"],
  },
  "closed-report-closed-again": {
    file: "abuse/reports.ts",
    from: 'closed_by: wordFor(by) })\n      .where("state", "=", "open");',
    to: "closed_by: wordFor(by) });",
    tests: ["test/conformance/reports.test.ts"],
  },
  "report-sent-again-on-reload": {
    file: "abuse/mount.ts",
    from: 'return new Response(null, { status: 303, headers: { location: "/report?thanks"',
    to: 'return new Response(null, { status: 307, headers: { location: "/report?thanks"',
    tests: ["src/abuse/mount.test.ts"],
  },
  "unknown-code-is-no-guess": {
    file: "abuse/mount.ts",
    from: "      await guesses.missed(address);\n",
    to: "",
    tests: ["src/abuse/mount.test.ts"],
  },
};
