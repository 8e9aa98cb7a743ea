import { type Clock, dayMs, toIso } from "../base/clock.ts";
import type { FileId, LinkId, PersonId } from "../base/ids.ts";
import { type ReportQuery, spanOfYear } from "../clicks/reports/query.ts";
import { reportOn } from "../clicks/reports/report.ts";
import { toLocalIso } from "../clicks/reports/zones.ts";
import { createClickSettings } from "../clicks/settings.ts";
import { createDomainStore } from "../domains/store.ts";
import { createEmailSettings } from "../email/settings/settings.ts";
import { createFileStore } from "../files/store.ts";
import { statesOf } from "../links/read/states.ts";
import type { LinkStore } from "../links/store.ts";
import type { TrashedLink, TrashStore } from "../links/trash/trash-store.ts";
import { createMembers } from "../people/workspaces/members.ts";
import type { Sql } from "../sql/sql.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { exportedLink } from "./export.ts";

/**
 * Everything of a workspace, as JSON lines: each says in `record` what it is. `quicklink import` reads the links again, and
 * passes over the rest. Secrets, files themselves and single clicks are not in it.
 *
 * It is read in parts of some hundred rows, each with the place where the next one begins, so that no part takes long and the
 * next is read when the client has taken this one. The last line says that it is complete.
 */
export interface WorkspaceExportPart {
  readonly lines: readonly string[];
  /** Null: that was all. */
  readonly next: string | null;
}

export interface WorkspaceExportSource {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly store: Pick<LinkStore, "listUp">;
  readonly trash: Pick<TrashStore, "list">;
  readonly targets: Parameters<typeof statesOf>[0]["targets"];
  readonly suspensions: Parameters<typeof statesOf>[0]["suspensions"];
}

type Line = { readonly record: string } & Readonly<Record<string, unknown>>;

/** `after`: where the section goes on. Null: it is done. */
interface Rows {
  readonly rows: readonly Line[];
  readonly after: string | null;
}

type Section = (source: WorkspaceExportSource, tenant: Tenant, after: string | undefined) => Promise<Rows>;

const rowsMost = 500;

/** `place`: from the part before. */
export async function exportWorkspacePart(
  source: WorkspaceExportSource,
  tenant: Tenant,
  place: string | null,
): Promise<WorkspaceExportPart> {
  const [name = "", after] = place?.split(" ") ?? [names[0]];
  const section = sections[name];
  if (section === undefined) throw new Error("an export continues at a place that it has not named");
  const { rows, after: further } = await section(source, tenant, after);
  const following = names[names.indexOf(name) + 1];
  return {
    lines: rows.map((row) => `${JSON.stringify(row)}\n`),
    next: further === null ? (following ?? null) : `${name} ${further}`,
  };
}

const time = (at: number | null): string | null => (at === null ? null : toIso(at));

/** What goes on after the last of these, if there may be more. */
const upTo = <Row>(rows: readonly Row[], place: (row: Row) => string): string | null => {
  const last = rows.at(-1);
  return last === undefined || rows.length < rowsMost ? null : place(last);
};

const workspace: Section = async ({ sql, clock }, tenant) => {
  const { id, slug, name, plan, limits, createdAt } = tenant;
  const { contact, sender, notices } = await createEmailSettings(sql, undefined, clock).of(id);
  const { eventsKeptDays: _, ...clicks } = await createClickSettings(sql, clock).of(tenant);
  const about = { id, slug, name, plan, limits, createdAt: toIso(createdAt), exportedAt: toIso(clock.now()) };
  return {
    rows: [{ record: "workspace", ...about, settings: { email: { contact, sender, notices }, clicks } }],
    after: null,
  };
};

const members: Section = async ({ sql, clock }, { id }, after) => {
  const nothing = { touch: () => Promise.reject(new Error("an export changes nobody")) };
  const some = await createMembers({ sql, clock, sessions: nothing }).list(id, rowsMost, after as PersonId | undefined);
  const rows = some.map(({ id, name, email, role, joinedAt }) => ({
    ...{ record: "member", id, name, email, role, joinedAt: toIso(joinedAt) },
  }));
  return { rows, after: upTo(some, ({ id }) => id) };
};

/** There are at most a hundred. */
const domains: Section = async ({ sql }, { id }) => {
  const some = await createDomainStore(sql).list(id, rowsMost);
  const rows = some.map(({ host, state, isDefault, rootUrl, missingUrl, createdAt, verifiedAt }) => ({
    ...{ record: "domain", host, state, isDefault, rootUrl, missingUrl },
    ...{ createdAt: toIso(createdAt), verifiedAt: time(verifiedAt) },
  }));
  return { rows, after: null };
};

const files: Section = async ({ sql }, { id }, after) => {
  const some = await createFileStore(sql).list(id, rowsMost, after as FileId | undefined);
  const rows = some.map(({ id, name, sizeBytes, type, sha256, state, createdAt }) => ({
    ...{ record: "file", id, name, sizeBytes, type, sha256, state, createdAt: toIso(createdAt) },
  }));
  return { rows, after: upTo(some, ({ id }) => id) };
};

const links: Section = async (source, { id }, after) => {
  const some = await source.store.listUp(id, rowsMost, after as LinkId | undefined);
  const states = some.length === 0 ? undefined : await statesOf(source, some);
  const rows = some.map((link) => {
    const { clicks = 0, lastClickAt = null, suspended = null } = states?.get(link.id) ?? {};
    const more = { updatedAt: toIso(link.updatedAt), clicks, lastClickAt: time(lastClickAt), suspended };
    return { record: "link", ...exportedLink(link), id: link.id, version: link.version, ...more };
  });
  return { rows, after: upTo(some, ({ id }) => id) };
};

const trash: Section = async (source, { id }, after) => {
  const some = await source.trash.list(id, rowsMost, placeInTrash(after));
  const rows = some.map(({ link, deletedAt }) => ({
    ...{ record: "trashed_link", ...exportedLink(link), id: link.id, deletedAt: toIso(deletedAt) },
  }));
  return { rows, after: upTo(some, ({ id, deletedAt }) => `${deletedAt}/${id}`) };
};

function placeInTrash(after: string | undefined): Pick<TrashedLink, "deletedAt" | "id"> | undefined {
  const [deletedAt, id] = after?.split("/") ?? [];
  return id === undefined ? undefined : { deletedAt: Number(deletedAt), id: id as LinkId };
}

/** Clicks and visitors of each day that had any, in the time zone of the workspace; a year at a time. */
const days: Section = async ({ sql, clock }, tenant, after) => {
  const { timeZone: zone } = await createClickSettings(sql, clock).of(tenant);
  const now = clock.now();
  const from = after === undefined ? tenant.createdAt - dayMs : Number(after);
  const span = spanOfYear(zone, from, now);
  if (span === undefined) return { rows: [], after: null };
  const query: ReportQuery = {
    ...{ ...span, zone, interval: "day", traffic: "people", breakdown: [], limit: 1, compare: undefined, filters: [] },
  };
  const { series } = await reportOn(sql, clock, tenant.id, { kind: "tenant" }, query);
  const rows = series
    .filter(({ clicks }) => clicks > 0)
    .map(({ start, clicks, visitors }) => ({
      ...{ record: "clicks", day: toLocalIso(zone, start).slice(0, 10), clicks, visitors },
    }));
  return { rows, after: span.to > now ? null : String(span.to) };
};

const end: Section = async () => ({ rows: [{ record: "end" }], after: null });

const sections: Readonly<Record<string, Section>> = { workspace, members, domains, files, links, trash, days, end };
const names = Object.keys(sections);
