import Share2 from "lucide-react/icons/share-2";
import { lazy, Suspense, useState } from "react";
import type { Link } from "../../api/generated.ts";
import { useIsOffline } from "../../shell/use-is-offline.ts";
import { commonTexts } from "../../texts/common.ts";
import { linkTexts as t } from "../../texts/link.ts";
import { shellTexts } from "../../texts/shell.ts";
import { Button } from "../../ui/button.tsx";
import { useWorkspace } from "../../workspace.ts";

const ShareDialog = lazy(() => import("./share-dialog.tsx").then((module) => ({ default: module.ShareDialog })));

export function ShareButton({ link }: { readonly link: Link }) {
  const { can } = useWorkspace();
  const isOffline = useIsOffline();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        icon={Share2}
        disabledReason={can("links:write") ? (isOffline ? shellTexts.offline : undefined) : commonTexts.needsRole}
        onClick={() => setOpen(true)}
      >
        {t.share}
      </Button>
      <Suspense>{isOpen && <ShareDialog link={link} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
