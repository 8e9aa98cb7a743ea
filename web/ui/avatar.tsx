import { cx } from "./class-names.ts";
import type { Icon } from "./icon.ts";
import { tintClass } from "./tint.ts";

/** Drawn, not text: a button around it has a name that does not begin with them. */
const lettersClass = "before:content-[attr(data-letters)]";

interface AvatarProps {
  /** A person's name or email address: gives the initials and the tint. */
  readonly name: string;
  readonly size?: "sm" | "md" | "lg" | undefined;
  readonly className?: string | undefined;
}

/** A person. The name stands beside it or is the label of the button around it. */
export function Avatar({ name, size = "md", className }: AvatarProps) {
  const sizes = { sm: "size-5 text-[9px]", md: "size-[26px] text-11", lg: "size-10 text-14" }[size];
  return (
    <span
      aria-hidden="true"
      className={cx(
        "inline-grid flex-none place-items-center rounded-full font-semibold",
        lettersClass,
        sizes,
        tintClass(name),
        className,
      )}
      data-letters={initials(name)}
    />
  );
}

export function initials(name: string): string {
  const words = (name.split("@")[0] ?? name).split(/[\s._-]+/).filter(Boolean);
  const letters = words.length > 1 ? [first(words[0]), first(words.at(-1))] : [...(words[0] ?? "")].slice(0, 2);
  return letters.join("").toLocaleUpperCase();
}

function first(word: string | undefined): string {
  return [...(word ?? "")][0] ?? "";
}

interface LetterTileProps {
  /** A host name, a title: gives the letter and the tint. */
  readonly name: string;
  /** Instead of the letter, for files. */
  readonly icon?: Icon | undefined;
  readonly size?: "sm" | "lg" | undefined;
}

/** Stands for the favicon, which would need a request to somebody else's server. */
export function LetterTile({ name, icon: IconShape, size = "sm" }: LetterTileProps) {
  const sizes = { sm: "size-[18px] rounded-[5px] text-[10px]", lg: "size-7 rounded-[7px] text-13" }[size];
  return (
    <span
      aria-hidden="true"
      className={cx(
        "inline-grid flex-none place-items-center font-semibold",
        sizes,
        IconShape ? "bg-tint-2 text-tint-2-text" : cx(tintClass(name), lettersClass),
      )}
      data-letters={first(name).toLocaleUpperCase()}
    >
      {IconShape && <IconShape className={size === "sm" ? "size-[11px]" : "size-4"} />}
    </span>
  );
}

interface WorkspaceMarkProps {
  readonly name: string;
  /** Address of the workspace's own logo. */
  readonly src?: string | undefined;
  readonly size?: "sm" | "lg" | undefined;
}

export function WorkspaceMark({ name, src, size = "sm" }: WorkspaceMarkProps) {
  const sizes = { sm: "size-5 rounded-[5px] text-11", lg: "size-6 rounded-[6px] text-12" }[size];
  if (src) return <img src={src} alt="" className={cx("flex-none object-contain", sizes)} />;
  return (
    <span
      aria-hidden="true"
      className={cx("inline-grid flex-none place-items-center bg-ink font-semibold text-on-ink", lettersClass, sizes)}
      data-letters={first(name).toLocaleUpperCase()}
    />
  );
}
