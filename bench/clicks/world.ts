/**
 * A year of clicks as retention leaves it: events of the last 90 days, and roll-ups of all days and months. One tenant
 * has 10,000 links, of which the n-th gets 1/n of the clicks of the first, and 90 % of all clicks; nine others have the rest.
 */
import { type Clock, dayMs } from "../../src/base/clock.ts";
import { dayWeight, spreadOf, zipf } from "./spread.ts";

export const linksOfTenant = 10_000;
export const otherTenants = 9;
const linksOfOther = 1_000;
const shareOfTenant = 0.9;
export const daysOfYear = 365;
export const eventDays = 90;

/** The moment of the reports: a Tuesday afternoon. Parts of the day are condensed until ten minutes ago, as they are on average. */
export const now = Date.UTC(2026, 10, 17, 15, 25);
export const today = Math.floor(now / dayMs);
export const partsUntil = Date.UTC(2026, 10, 17, 15, 15);
export const weekStart = today - 1;
export const monthStart = Date.UTC(2026, 10, 1);
export const quarterYearStart = Date.UTC(2026, 9, 1);
export const firstDay = today - daysOfYear;

export const linkSpread = spreadOf(zipf(linksOfTenant, 1));
const harmonic = zipf(linksOfTenant, 1).reduce((sum, one) => sum + one, 0);
export const otherSpread = spreadOf(zipf(linksOfOther, 1));

/** The share of the tenant's clicks; links are counted from 1. */
export const shareOfLink = (link: number): number => 1 / link / harmonic;

/** The clicks of a whole day, of all tenants. */
export const clicksOfDay = (clicks: number, day: number): number =>
  Math.round((clicks / daysOfYear) * dayWeight(day, day - firstDay));

export const tenantClicksOfDay = (clicks: number, day: number): number =>
  Math.round(clicksOfDay(clicks, day) * shareOfTenant);

export const frozenClock = (clock: Clock): Clock => ({ ...clock, now: () => now });
