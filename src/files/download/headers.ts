/**
 * How a stored file is sent to a browser: always to be saved, never to be shown. Otherwise an uploader could run a page
 * on our host.
 */

/** Types that a browser would only save; everything else is sent as plain bytes. */
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

/** RFC 6266: an ASCII name, and one in UTF-8 (RFC 8187) if that differs. */
export function attachment(name: string): string {
  const clean = name.toWellFormed().replace(unsafe, "_");
  const plain = clean.replace(/[^\x20-\x7e]/g, "_").replace(/["\\%]/g, "_");
  const fallback = `attachment; filename="${plain}"`;
  return plain === clean ? fallback : `${fallback}; filename*=UTF-8''${encodeExtended(clean)}`;
}

// Line breaks and the like, path separators, and direction marks that hide an extension.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not get into a header
const unsafe = /[\u0000-\u001f\u007f-\u009f/\\\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

const encodeExtended = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
