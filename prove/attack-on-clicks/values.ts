/** Requests of an attack, each with values that no other has, and those of normal visitors. */
const networks = ["5.9", "126.0", "90.0", "88.0"] as const;
const countries = ["DE", "JP", "FR", "ES"] as const;

export interface AttackRequest {
  /** Without its question mark. */
  readonly query: string;
  readonly headers: string;
  readonly address: string;
}

const start = Math.floor(Math.random() * 2 ** 20);

export function attackOf(place: number): AttackRequest {
  const name = (start + place).toString(36);
  const language = lettersOf(place);
  const address = `${60 + (place >> 20)}.${(place >> 14) & 63}.${(place >> 7) & 127}.${place & 127}`;
  const minor = `${place & 255}.${place >> 8}`;
  return {
    query: `utm_source=s${name}&utm_medium=m${name}&utm_campaign=c${name}`,
    headers:
      `User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.${minor} Safari/537.36 a${name}\r\n` +
      `Referer: https://r${name}.example/${name}\r\nAccept-Language: ${language}-${name.slice(0, 8)}\r\nX-Forwarded-For: ${address}\r\n`,
    address,
  };
}

/** Two or three letters: all that a language can be. */
function lettersOf(place: number): string {
  const letter = (digit: number) => String.fromCharCode(97 + (digit % 26));
  return `${letter(place)}${letter(Math.floor(place / 26))}${letter(Math.floor(place / 676))}`;
}

/** One of a few visitors, whose country is known. */
export function normalVisit(place: number, referrer = "https://news.example/"): string {
  const who = place % 100;
  return (
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36\r\n" +
    `Referer: ${referrer}\r\nAccept-Language: en-US,en;q=0.9\r\nX-Forwarded-For: ${networks[who % networks.length]}.1.${who}\r\n`
  );
}

export const countryOf = (place: number): string => countries[(place % 100) % countries.length] ?? "";
