import { Link } from "@tanstack/react-router";
import ChevronRight from "lucide-react/icons/chevron-right";
import { linkTexts as t } from "../../texts/link.ts";
import { useWorkspace } from "../../workspace.ts";

export function Breadcrumb({ code }: { readonly code: string }) {
  const { slug } = useWorkspace();
  return (
    <nav aria-label={t.breadcrumb} className="mb-3 flex min-w-0 items-center gap-1.5 text-12 text-text-3">
      <Link
        to="/w/$workspace/links"
        params={{ workspace: slug }}
        search={{}}
        className="touch flex-none rounded-1 hover:text-text"
      >
        {t.links}
      </Link>
      {code !== "" && (
        <>
          <ChevronRight className="size-3.5" aria-hidden />
          <span aria-current="page" className="min-w-0 truncate text-text-2" title={code}>
            {code}
          </span>
        </>
      )}
    </nav>
  );
}
