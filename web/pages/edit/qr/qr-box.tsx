import Palette from "lucide-react/icons/palette";
import { qrTexts as t } from "../../../texts/edit.ts";
import { Button } from "../../../ui/button.tsx";
import { cx } from "../../../ui/class-names.ts";
import { useToast } from "../../../ui/toast.tsx";
import { useWorkspace } from "../../../workspace.ts";
import { contrastLeast, contrastOf } from "./design.ts";
import { download } from "./download.ts";
import { QrImage } from "./qr-image.tsx";
import { useQrDesign } from "./use-qr-design.ts";

interface QrBoxProps {
  readonly shortUrl: string;
  /** False while the code is random: there is nothing to print yet. */
  readonly isFinal: boolean;
  readonly isStored: boolean;
  readonly onDesign: () => void;
  readonly layout: "row" | "column";
}

/** The code, its downloads, and the way to its design. Loaded when it is first shown. */
export function QrBox({ shortUrl, isFinal, isStored, onDesign, layout }: QrBoxProps) {
  const isRow = layout === "row";
  const { slug } = useWorkspace();
  const [design] = useQrDesign(slug);
  return (
    <div className={cx("flex gap-4", isRow ? "items-start rounded-3 bg-sunken p-3" : "flex-col items-center")}>
      <QrImage
        shortUrl={shortUrl}
        design={design}
        className={cx("flex-none", isRow ? "size-22" : "size-44", !isFinal && "opacity-40")}
      />
      <div className={cx("grid min-w-0 gap-2", !isRow && "justify-items-center text-center")}>
        <div>
          {isRow && <p className="font-semibold">{t.title}</p>}
          {!isStored && <p className="text-12 text-text-2">{isFinal ? t.follows : t.afterCreate}</p>}
          <p className="text-12 text-text-2">{t.source}</p>
        </div>
        <div className="flex flex-wrap gap-1.5">
          {isFinal && <QrDownloads shortUrl={shortUrl} />}
          <Button size="sm" variant="quiet" icon={Palette} onClick={onDesign}>
            {t.design}
          </Button>
        </div>
      </div>
    </div>
  );
}

export function QrDownloads({ shortUrl }: { readonly shortUrl: string }) {
  const { slug } = useWorkspace();
  const [design] = useQrDesign(slug);
  const toast = useToast();
  const ratio = contrastOf(design);
  const reason = ratio < contrastLeast ? t.lowContrast(ratio.toFixed(1)) : undefined;
  const save = (format: "svg" | "png") => async () => {
    try {
      await download(shortUrl, design, format);
    } catch {
      toast({ message: t.pngFailed, tone: "bad" });
    }
  };
  return (
    <>
      <Button size="sm" aria-label={t.download(t.svg)} disabledReason={reason} onClick={save("svg")}>
        {t.svg}
      </Button>
      <Button size="sm" aria-label={t.download(t.png)} disabledReason={reason} onClick={save("png")}>
        {t.png}
      </Button>
    </>
  );
}
