interface ShortAddressProps {
  readonly domain: string;
  readonly code: string;
}

/** A short link where there is little room: the domain is quiet and gives way; the ending is what people look for. */
export function ShortAddress({ domain, code }: ShortAddressProps) {
  return (
    <span className="flex min-w-0">
      <span className="min-w-[3ch] truncate text-text-3">{domain}</span>
      <span className="text-text-3">/</span>
      <span className="max-w-[calc(100%-4ch)] flex-none truncate">{code}</span>
    </span>
  );
}
