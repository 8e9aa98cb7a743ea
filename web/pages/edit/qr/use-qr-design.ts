import { useEffect, useState } from "react";
import { isColour, plainDesign, type QrDesign } from "./design.ts";

const keyOf = (workspace: string): string => `quicklink-qr:${workspace}`;
/** For the other codes on the page. */
const changed = "quicklink-qr";

export function useQrDesign(workspace: string): [QrDesign, (next: QrDesign) => void] {
  const [design, setDesign] = useState(() => read(workspace));
  useEffect(() => {
    const reread = () => setDesign(read(workspace));
    window.addEventListener(changed, reread);
    return () => window.removeEventListener(changed, reread);
  }, [workspace]);
  const save = (next: QrDesign) => {
    setDesign(next);
    try {
      localStorage.setItem(keyOf(workspace), JSON.stringify(next));
      window.dispatchEvent(new Event(changed));
    } catch {
      // Without storage it lasts as long as the page.
    }
  };
  return [design, save];
}

function read(workspace: string): QrDesign {
  try {
    const stored = JSON.parse(localStorage.getItem(keyOf(workspace)) ?? "{}") as Partial<QrDesign>;
    const whole = { ...plainDesign, ...stored };
    return isColour(whole.dark) && isColour(whole.light) ? whole : plainDesign;
  } catch {
    return plainDesign;
  }
}
