/** The entities that occur in titles; two thousand others are left as they are. */
const named: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  bull: "•",
  copy: "©",
  euro: "€",
  gt: ">",
  hellip: "…",
  laquo: "«",
  ldquo: "“",
  lsquo: "‘",
  lt: "<",
  mdash: "—",
  middot: "·",
  nbsp: " ",
  ndash: "–",
  quot: '"',
  raquo: "»",
  rdquo: "”",
  reg: "®",
  rsquo: "’",
  szlig: "ß",
  trade: "™",
};

/** `&eacute;` is a letter and the name of its accent. */
const marks: Readonly<Record<string, string>> = {
  acute: "\u0301",
  cedil: "\u0327",
  circ: "\u0302",
  grave: "\u0300",
  ring: "\u030a",
  tilde: "\u0303",
  uml: "\u0308",
};

export function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));?/gi, (whole, decimal, hex, name) => {
    if (name === undefined) return character(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal));
    const [, letter = "", mark = ""] = /^([A-Za-z])(acute|cedil|circ|grave|ring|tilde|uml)$/.exec(name) ?? [];
    return letter === "" ? (named[name.toLowerCase()] ?? whole) : `${letter}${marks[mark]}`.normalize("NFC");
  });
}

const character = (code: number): string =>
  code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : "\ufffd";
