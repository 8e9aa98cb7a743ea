/**
 * The preferred language of an Accept-Language header: the highest weight, the first of equal ones. Only that one
 * counts: a visitor who lists German fifth does not want the German page.
 */
const lengthMost = 512;
const tagPattern = /^[a-z]{2,3}(?:-[a-z0-9]{1,8})*$/;

export function bestLanguage(header: string | null): string | undefined {
  if (header === null) return undefined;
  let best: string | undefined;
  let most = 0;
  for (const part of header.slice(0, lengthMost).toLowerCase().split(",")) {
    const [tag = "", ...more] = part.split(";").map((text) => text.trim());
    const weight = weightOf(more);
    if (weight > most && tagPattern.test(tag)) {
      best = tag;
      most = weight;
    }
  }
  return best;
}

function weightOf(parameters: readonly string[]): number {
  const text = parameters.find((one) => one.startsWith("q="));
  if (text === undefined) return 1;
  const weight = Number(text.slice(2));
  return weight >= 0 && weight <= 1 ? weight : 0;
}
