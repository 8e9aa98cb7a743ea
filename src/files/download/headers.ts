/**
 * How a stored file is handed to a browser: always to be saved, never to be shown. Whoever uploaded it could otherwise
 * run a page of theirs on our host.
 */

/** What a browser would do nothing with but save it; everything else is said to be bytes. */
const harmless: ReadonlySet<string> = new Set([
  "application/gzip",
  "application/pdf",
  "application/zip",
  "audio/flac",
  "audio/mp4",
  "audio/mpeg",
  "audio/ogg",
  "audio/wav",
  "image/avif",
  "image/bmp",
  "image/gif",
  "image/jpeg",
  "image/png",
  "image/tiff",
  "image/webp",
  "text/csv",
  "text/plain",
  "video/mp4",
  "video/ogg",
  "video/webm",
]);

export function servedType(declared: string): string {
  const [essence = ""] = declared.toLowerCase().split(";");
  const type = essence.trim();
  if (!harmless.has(type)) return "application/octet-stream";
  return type.startsWith("text/") ? `${type}; charset=utf-8` : type;
}

/** RFC 6266: a name for everybody, and one in UTF-8 (RFC 8187) where that says more. */
export function attachment(name: string): string {
  const clean = name.toWellFormed().replace(unsafe, "_");
  const plain = clean.replace(/[^\x20-\x7e]/g, "_").replace(/["\\%]/g, "_");
  const fallback = `attachment; filename="${plain}"`;
  return plain === clean ? fallback : `${fallback}; filename*=UTF-8''${encodeExtended(clean)}`;
}

// Line breaks and the like, separators of paths, and what turns the direction of writing to hide an ending.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get into a header
const unsafe = /[\u0000-\u001f\u007f-\u009f/\\\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

const encodeExtended = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
