import { useQuery } from "@tanstack/react-query";
import { Link as RouteLink, useParams } from "@tanstack/react-router";
import { ApiError } from "../../api/call.ts";
import { linkQuery } from "../../api/queries.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { linkTexts as t } from "../../texts/link.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, ErrorState, Skeleton } from "../../ui/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { Breadcrumb } from "./breadcrumb.tsx";
import { LinkReport } from "./link-report.tsx";

/** One link: what it is, and what happens to it. */
export function LinkPage() {
  const { slug } = useWorkspace();
  const { link: id } = useParams({ from: "/w/$workspace/links/$link" });
  const link = useQuery(linkQuery(slug, id));
  if (link.data) return <LinkReport link={link.data} />;
  const isMissing = link.error instanceof ApiError && link.error.status === 404;
  return (
    <Page>
      <Breadcrumb code="" />
      {isMissing ? (
        <Empty
          action={
            <span className="flex flex-wrap justify-center gap-2">
              <RouteLink to="/w/$workspace/links" params={{ workspace: slug }} search={{}} className={buttonClass()}>
                {t.toLinks}
              </RouteLink>
              <RouteLink
                to="/w/$workspace/links/trash"
                params={{ workspace: slug }}
                search={{}}
                className={buttonClass({ variant: "quiet" })}
              >
                {t.toTrash}
              </RouteLink>
            </span>
          }
        >
          {t.notFound}
        </Empty>
      ) : link.isError ? (
        <ErrorState
          message={`${t.couldNotLoad} ${messageOf(link.error)}`}
          retryLabel={commonTexts.tryAgain}
          retrying={link.isFetching}
          onRetry={() => void link.refetch()}
        />
      ) : (
        <div role="status">
          <span className="sr-only">{commonTexts.loading}</span>
          <div className="mb-5 flex items-center gap-4">
            <Skeleton className="size-[60px] rounded-2" />
            <div className="grid gap-2">
              <Skeleton className="h-7 w-56" />
              <Skeleton className="h-5 w-80 max-w-[50vw]" />
            </div>
          </div>
          <Skeleton className="mb-3 h-[26px] w-96 max-w-full rounded-full" />
          <Skeleton className="h-[380px] rounded-3" />
        </div>
      )}
    </Page>
  );
}
