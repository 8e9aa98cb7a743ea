import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { send } from "../../api/call.ts";
import type { Link } from "../../api/generated.ts";
import { linkTexts as t } from "../../texts/link.ts";
import { useWorkspace } from "../../workspace.ts";
import { shortly } from "../edit/link-form.ts";

interface QrPictureProps {
  readonly link: Link;
  readonly onOpen: () => void;
}

/** The QR code, small; a click designs and downloads it. Fetched by the script: an `<img>` cannot name its workspace. */
export function QrPicture({ link, onOpen }: QrPictureProps) {
  const { slug } = useWorkspace();
  const address = shortly(link.shortUrl);
  const { data } = useQuery({
    queryKey: ["/api/qr", slug, link.id, link.shortUrl],
    queryFn: async ({ signal }) => {
      const options = { path: { id: link.id }, query: { format: "svg" as const, margin: 1 }, signal };
      return await (await send("GET /api/links/{id}/qr", options)).blob();
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [picture, setPicture] = useState<string>();
  useEffect(() => {
    if (data === undefined) return;
    const made = URL.createObjectURL(data);
    setPicture(made);
    return () => URL.revokeObjectURL(made);
  }, [data]);
  return (
    <button
      type="button"
      onClick={onOpen}
      aria-label={t.openQr(address)}
      title={t.openQr(address)}
      className="size-[60px] flex-none overflow-hidden max-sm:self-start rounded-2 border border-line bg-white"
    >
      {picture !== undefined && <img src={picture} alt="" className="size-full" />}
    </button>
  );
}
