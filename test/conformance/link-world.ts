/** Links of two processes on one database, with a blocklist that a test fills. */
import { manualClock } from "../../src/base/clock.ts";
import { createPasswords } from "../../src/base/passwords.ts";
import { createCodes } from "../../src/codes/codes.ts";
import { createIssuer } from "../../src/codes/issuer.ts";
import { createLinks } from "../../src/links/links.ts";
import { takeCodeBlock } from "../../src/sql/code-counter.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { linkStores } from "../ground/links.ts";

export type LinkWorld = ReturnType<typeof openLinkWorld>;

const codes = createCodes("a salt for tests of links, and only for them");
const start = Date.UTC(2026, 10, 17);

export function openLinkWorld([sql, other]: readonly [Sql, Sql], clock = manualClock(start)) {
  const blocked = new Set<string>();
  let names = 0;
  const linksOn = (client: Sql) =>
    createLinks({
      ...linkStores(client),
      issuer: createIssuer(codes, (size) => takeCodeBlock(client, size), 100),
      ...{ clock, ownHosts: new Set(["go.example.com"]), passwords: createPasswords(), defaultDays: 365, publish() {} },
      isBlocked: (host) => blocked.has(host),
    });
  return {
    ...{ sql, blocked, ...linkStores(sql), links: linksOn(sql) },
    /** Of another process. */
    elsewhere: linksOn(other),
    newTenant: () => createTenants(sql, clock).create(`tenant-${++names}`, "Somebody", byCommand),
  };
}
