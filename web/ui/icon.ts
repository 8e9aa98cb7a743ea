import type { ComponentType } from "react";

/** An icon as `lucide-react/icons/…` exports it. Icons are decoration: the word beside them, or a label, names the thing. */
export type Icon = ComponentType<{ className?: string | undefined; "aria-hidden"?: boolean | undefined }>;
