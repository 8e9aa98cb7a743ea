const tints = [
  "bg-tint-1 text-tint-1-text",
  "bg-tint-2 text-tint-2-text",
  "bg-tint-3 text-tint-3-text",
  "bg-tint-4 text-tint-4-text",
  "bg-tint-5 text-tint-5-text",
  "bg-tint-6 text-tint-6-text",
] as const;

/** The same name has the same tint on every page. */
export function tintClass(name: string): string {
  let hash = 0;
  for (const letter of name) hash = (Math.imul(hash, 31) + (letter.codePointAt(0) ?? 0)) >>> 0;
  return tints[hash % tints.length] ?? tints[0];
}
