import type { ReactNode } from "react";
import { Card, CardTitle } from "../../ui/card.tsx";

/** One family of components. */
export function Exhibit({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Card>
      <CardTitle>{title}</CardTitle>
      <div className="grid grid-cols-1 gap-4 border-t border-line p-4">{children}</div>
    </Card>
  );
}

/** Variants side by side. */
export function Line({ children }: { readonly children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-2">{children}</div>;
}
