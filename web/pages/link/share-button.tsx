import Share2 from "lucide-react/icons/share-2";
import { lazy, Suspense, useState } from "react";
import type { Link } from "../../api/generated.ts";
import { linkTexts as t } from "../../texts/link.ts";
import { Button } from "../../ui/button.tsx";
import { useWorkspace } from "../../workspace.ts";

const ShareDialog = lazy(() => import("./share-dialog.tsx").then((module) => ({ default: module.ShareDialog })));

export function ShareButton({ link }: { readonly link: Link }) {
  const { can } = useWorkspace();
  const [isOpen, setOpen] = useState(false);
  if (!can("links:write")) return null;
  return (
    <>
      <Button icon={Share2} onClick={() => setOpen(true)}>
        {t.share}
      </Button>
      <Suspense>{isOpen && <ShareDialog link={link} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
