/**
 * Whether a row of imported clicks is a total or the clicks of a day. Its length does not tell: the total of a link that was created today is
 * shorter than a day. All rows of today are totals, because no import writes days.
 */
export const importedTotals = (): string[] => [
  "alter table click_history add column is_total integer not null default 1 check (is_total in (0, 1))",
];
