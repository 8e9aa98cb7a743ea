interface LogoProps {
  /** The product's name beside the mark. Without it the mark is decoration. */
  readonly name?: string | undefined;
}

export function Logo({ name }: LogoProps) {
  return (
    <span className="inline-flex items-center gap-2 text-14 font-semibold tracking-[-.01em] text-text">
      <svg viewBox="0 0 20 20" className="size-5 flex-none" aria-hidden="true">
        <rect width="20" height="20" rx="6" className="fill-ink" />
        <path
          d="M9.04 7H8a3 3 0 0 0 0 6h1.04M10.96 7H12a3 3 0 0 1 0 6h-1.04"
          className="fill-none stroke-on-ink stroke-2"
        />
      </svg>
      {name}
    </span>
  );
}
