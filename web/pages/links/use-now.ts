import { useEffect, useState } from "react";

const stepMs = 10_000;

/** The time for "3 min ago": moves every ten seconds while the page is visible. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") setNow(Date.now());
    }, stepMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}
