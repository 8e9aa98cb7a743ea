import { useQuery } from "@tanstack/react-query";
import Globe from "lucide-react/icons/globe";
import { useEffect, useState } from "react";
import { send } from "../../api/call.ts";
import type { DestinationPage } from "../../api/generated.ts";
import { previewTexts as t } from "../../texts/edit.ts";
import { useWorkspace } from "../../workspace.ts";
import { hostOf } from "./destination-field.tsx";
import { withScheme } from "./link-form.ts";

interface SocialPreviewProps {
  readonly page: DestinationPage | undefined;
  readonly url: string;
  readonly title: string;
}

/** As networks show the target. The picture comes through our server: this page loads nothing from others. */
export function SocialPreview({ page, url, title }: SocialPreviewProps) {
  const host = hostOf(page?.finalUrl ?? withScheme(url));
  const image = useImage(withScheme(url), page?.imageUrl ?? null);
  return (
    <div className="grid gap-2">
      <h3 className="text-12 text-text-3">{t.social}</h3>
      {!URL.canParse(withScheme(url)) ? (
        <p className="text-text-2">{t.noSocial}</p>
      ) : (
        <div className="overflow-hidden rounded-3 border border-line bg-surface">
          {image && <img src={image} alt="" className="aspect-[1.91] w-full border-b border-line object-cover" />}
          <div className="grid gap-0.5 p-3">
            <p className="flex min-w-0 items-center gap-1.5 text-12 text-text-3">
              <Globe className="size-3.5" />
              <span className="truncate">{host}</span>
            </p>
            <p className="line-clamp-2 font-medium">{page?.title ?? (title === "" ? t.noTitle : title)}</p>
            {page?.description && <p className="line-clamp-3 text-12 text-text-2">{page.description}</p>}
          </div>
        </div>
      )}
    </div>
  );
}

/** An address of the picture in this page. */
function useImage(url: string, imageUrl: string | null): string | undefined {
  const { slug, can } = useWorkspace();
  const { data } = useQuery({
    queryKey: ["/api/links/check-destination/image", slug, url, imageUrl],
    queryFn: async ({ signal }) => {
      const response = await send("GET /api/links/check-destination/image", { query: { url }, signal });
      return await response.blob();
    },
    enabled: imageUrl !== null && can("links:write"),
    staleTime: 300_000,
    retry: false,
  });
  const blob = imageUrl === null ? undefined : data;
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (blob === undefined) return;
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => {
      URL.revokeObjectURL(made);
      setAddress(undefined);
    };
  }, [blob]);
  return address;
}
