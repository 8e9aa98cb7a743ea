import { useLayoutEffect, useRef, useState } from "react";

/** The width of an element, for charts that are drawn in pixels. */
export function useWidth<Element extends HTMLElement>(): [React.RefObject<Element | null>, number] {
  const ref = useRef<Element>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = ref;
    if (current === null) return;
    setWidth(current.clientWidth);
    const observer = new ResizeObserver(() => setWidth(current.clientWidth));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
