/**
 * Whether the first bytes of a file contradict its announced type. It cannot be proven that a file is what it claims;
 * it can be seen when it is certainly something else. If nothing is known about a type's bytes, nothing is refused.
 */
export async function contradiction(type: string, head: Uint8Array): Promise<string | undefined> {
  // Loaded with the first upload: a server starts a tenth faster without it.
  const { fileTypeFromBuffer, supportedMimeTypes } = await import("file-type");
  const declared = essenceOf(type);
  const found = await fileTypeFromBuffer(head);
  if (found === undefined) {
    return marked.has(declared) ? `The content is not valid ${declared}.` : undefined;
  }
  const seen = essenceOf(found.mime);
  return agree(declared, seen, supportedMimeTypes)
    ? undefined
    : `Announced as ${declared}, but the content is ${seen}.`;
}

/** How much of a file must be read. */
export const headBytes = 4_096;

/** Types whose files always start with the same bytes. */
const marked: ReadonlySet<string> = new Set([
  ...["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/heic", "image/tiff", "image/bmp"],
  ...["application/pdf", "application/zip", "application/gzip", "application/x-7z-compressed", "application/x-bzip2"],
  ...["application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ...["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  ...["application/vnd.openxmlformats-officedocument.presentationml.presentation"],
  ...["video/mp4", "video/webm", "video/quicktime", "audio/flac", "audio/wav", "audio/ogg", "font/woff", "font/woff2"],
]);

/** Different names for the same type, and containers that differ only deep inside. */
const families: readonly RegExp[] = [
  /^image\/(?:a?png|x-png)$/,
  /^image\/p?jpe?g$/,
  /^image\/(?:hei[cf](?:-sequence)?|avif)$/,
  /^image\/(?:x-icon|vnd\.microsoft\.icon)$/,
  /^image\/(?:tiff|x-(?:canon|olympus|sony|adobe|nikon|panasonic|fujifilm)-\w+)$/,
  /^audio\/(?:mpeg|mp3|x-mp3)$/,
  /^audio\/(?:x-|vnd\.)?wave?$/,
  /^(?:audio|video)\/(?:mp4|quicktime|x-m4[avbp]|3gpp2?)$/,
  /^(?:audio|video|application)\/(?:x-)?ogg$|^audio\/opus$/,
  /^(?:audio|video)\/(?:webm|(?:x-)?matroska)$/,
  /^application\/(?:x-)?(?:gzip|gtar|tgz|compressed-tar)$/,
  /^application\/(?:x-cfb|msword|vnd\.ms-(?:excel|powerpoint|outlook|project|works)|vnd\.visio|x-msi)$/,
  /zip|^application\/(?:vnd\.(?:openxmlformats|oasis|ms-\w+\..*macroenabled|android\.package)|java-archive|x-xpinstall)|^model\/3mf$/,
  /^application\/(?:x-msdownload|x-msdos-program|vnd\.microsoft\.portable-executable|x-dosexec)$/,
  /^application\/(?:x-rar(?:-compressed)?|vnd\.rar)$/,
  /^(?:application|text)\/rtf$/,
  /^application\/(?:postscript|eps|illustrator)$/,
  /^application\/(?:pdf|illustrator)$/,
];

function agree(declared: string, seen: string, recognised: ReadonlySet<string>): boolean {
  if (declared === seen || declared === "application/octet-stream") return true;
  if (families.some((family) => family.test(declared) && family.test(seen))) return true;
  if (isText(declared)) return isText(seen);
  // For an unknown type only its kind can be compared; many application files are containers of another type.
  if (recognised.has(declared) || marked.has(declared)) return false;
  const [kind] = declared.split("/");
  return kind === "application" || seen.startsWith(`${kind}/`);
}

const isText = (type: string): boolean =>
  type.startsWith("text/") || /^application\/(?:json|xml|javascript|yaml|toml|sql)$|\+(?:json|xml|yaml)$/.test(type);

const essenceOf = (type: string): string => (type.split(";")[0] ?? "").trim().toLowerCase();
