/** The query of an address: plain words, a repeated name is a list. Nothing is JSON, so that people can read and edit it. */
type Values = Record<string, unknown>;

export function parseSearch(text: string): Values {
  const found: Values = {};
  const given = new URLSearchParams(text.startsWith("?") ? text.slice(1) : text);
  for (const key of new Set(given.keys())) {
    const all = given.getAll(key);
    found[key] = all.length === 1 ? all[0] : all;
  }
  return found;
}

export function stringifySearch(search: Values): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(search)) {
    for (const one of [value].flat())
      if (one !== undefined && one !== null && one !== "") query.append(key, String(one));
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/** One value of a search parameter, whatever the address says. */
export const oneOf = (value: unknown): string | undefined => {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" && first !== "" ? first : undefined;
};

export const listOf = (value: unknown): readonly string[] =>
  [value].flat().filter((one): one is string => typeof one === "string" && one !== "");
