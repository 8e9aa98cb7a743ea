import createQr from "qrcode-generator";
import { useMemo } from "react";

const quietModules = 3;

/** A QR code drawn in the browser: its text is a secret that no other request should carry. */
export function QrOfText({ text, label }: { readonly text: string; readonly label: string }) {
  const { size, path } = useMemo(() => {
    const qr = createQr(0, "M");
    qr.addData(text);
    qr.make();
    const count = qr.getModuleCount();
    let drawn = "";
    for (let row = 0; row < count; row++) {
      for (let column = 0; column < count; column++) {
        if (qr.isDark(row, column)) drawn += `M${column + quietModules} ${row + quietModules}h1v1h-1z`;
      }
    }
    return { size: count + 2 * quietModules, path: drawn };
  }, [text]);
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
      className="size-48 rounded-2 border border-line bg-white"
    >
      <path d={path} fill="#000" />
    </svg>
  );
}
