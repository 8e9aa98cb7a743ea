/**
 * A typed number, with or without separators ("10 000", "10,000"); null for none. What is no number goes to the API as it is,
 * which says so at the field: as NaN it would arrive as null, which often means "no limit".
 */
export function wholeNumberOf(text: string): number | null {
  const typed = text.trim();
  if (typed === "") return null;
  const isNumber = /^(?:\d+|\d{1,3}(?:[\s.,'’_]\d{3})+)$/.test(typed);
  return isNumber ? Number(typed.replaceAll(/\D/g, "")) : (typed as unknown as number);
}
