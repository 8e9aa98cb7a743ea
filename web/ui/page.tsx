import type { ReactNode } from "react";
import { cx } from "./class-names.ts";

interface PageProps {
  /** Settings and forms stop at 680 px. */
  readonly form?: boolean | undefined;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** The width of a page; the frame brings the space around it. Fluid up to 1,440 px of content, then centred; forms begin where titles do. */
export function Page({ form, className, children }: PageProps) {
  return <div className={cx("w-full", form ? "max-w-[680px]" : "mx-auto max-w-[1440px]", className)}>{children}</div>;
}

/** A page of settings or a form: 680 px wide, sections 16 px apart. */
export function FormPage({ children }: { readonly children: ReactNode }) {
  return (
    <Page form>
      <div className="grid grid-cols-1 gap-4">{children}</div>
    </Page>
  );
}

interface PageHeaderProps {
  readonly title: ReactNode;
  readonly description?: ReactNode;
  /** Right of the title; below it on a phone if there is no room. */
  readonly actions?: ReactNode;
  /** Beside the title: "As of 14:02". */
  readonly remark?: ReactNode;
}

export function PageHeader({ title, description, actions, remark }: PageHeaderProps) {
  return (
    <header className="mb-3.5 flex min-h-8 flex-wrap items-center gap-x-4 gap-y-2">
      {/* On a phone the description has the whole width, under the title and the actions. */}
      <div className="min-w-0 flex-[1_1_12rem] max-sm:contents">
        <h1 className="flex flex-wrap items-baseline gap-x-2 text-18 font-semibold tracking-[-.012em] max-sm:max-w-full max-sm:flex-[1_0_auto] max-sm:text-24">
          {title}
          {remark && <span className="text-12 font-normal tracking-normal text-text-3">{remark}</span>}
        </h1>
        {description && (
          <p className="mt-0.5 text-text-2 max-sm:order-last max-sm:mt-0 max-sm:basis-full">{description}</p>
        )}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}
