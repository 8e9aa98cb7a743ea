/**
 * Tooltips without a positioning library: every icon button has one, so they are part of the first page, where Base UI's
 * would weigh 33 kB gzipped. They need little: one line of text above or below, or at a side with room.
 */
import {
  cloneElement,
  createContext,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { createPortal } from "react-dom";
import { Kbd } from "./chip.tsx";
import { popupEdgePx } from "./popup.ts";

type Side = "top" | "bottom" | "left" | "right";

interface TooltipProps {
  /** Undefined: no tooltip now. */
  readonly text: string | undefined;
  /** The key that does the same. */
  readonly shortcut?: string | undefined;
  readonly side?: Side | undefined;
  /** The text repeats the accessible name, so it is not announced a second time. */
  readonly isLabel?: boolean | undefined;
  /** Shown when pressed too, also by touch: for a button that does nothing now, and says why. */
  readonly onPress?: boolean | undefined;
  /** One element that passes `aria-description` on. Give it `tabIndex={0}` if it is no control. */
  readonly children: ReactElement<{ "aria-description"?: string | undefined }>;
}

const showMs = 400;
/** Long enough to move the pointer onto the tooltip. */
const hideMs = 120;
/** Long enough to read why a button does nothing. */
const pressMs = 4_000;
/** Beside a tooltip that was just open the next one opens at once. */
const nextMs = 300;
const gapPx = 6;

/** When the pointer last left a tooltip, shared by all of them. */
const LastLeft = createContext<{ at: number } | undefined>(undefined);

/** Around the app: once one tooltip is open, the next one opens at once. */
export function TooltipProvider({ children }: { readonly children: ReactNode }) {
  const last = useRef({ at: Number.NEGATIVE_INFINITY });
  return <LastLeft value={last.current}>{children}</LastLeft>;
}

/** Shown on hover and keyboard focus; Esc hides it. Screen readers hear the text as the description of the element. */
export function Tooltip({ text, shortcut, side = "top", isLabel, onPress, children }: TooltipProps) {
  const [anchor, setAnchor] = useState<Element | null>(null);
  const last = useContext(LastLeft);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const change = (next: Element | null, afterMs: number) => {
    clearTimeout(timer.current);
    if (!next && anchor && last) last.at = performance.now();
    // Not beside the menu that the button has opened meanwhile.
    timer.current = setTimeout(() => setAnchor(next?.ariaExpanded === "true" ? null : next), afterMs);
  };
  const hide = () => {
    clearTimeout(timer.current);
    setAnchor(null);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it has no box and only listens to what happens inside */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a key presses the button inside, which is a click too */}
      <span
        className="contents"
        onPointerEnter={(event) => {
          const isNext = last !== undefined && performance.now() - last.at < nextMs;
          if (event.pointerType !== "touch") change(event.currentTarget.firstElementChild, isNext ? 0 : showMs);
        }}
        onPointerLeave={() => (anchor ? change(null, hideMs) : hide())}
        onPointerDown={hide}
        onClick={(event) => {
          if (!onPress) return;
          clearTimeout(timer.current);
          setAnchor(event.currentTarget.firstElementChild);
          timer.current = setTimeout(() => setAnchor(null), pressMs);
        }}
        onFocus={(event) => {
          if (event.target.matches(":focus-visible")) change(event.currentTarget.firstElementChild, 0);
        }}
        onBlur={hide}
      >
        {isLabel ? children : cloneElement(children, { "aria-description": text })}
      </span>
      {anchor && text !== undefined && (
        <Bubble
          anchor={anchor}
          side={side}
          onHide={hide}
          onStay={() => change(anchor, 0)}
          onLeave={() => change(null, 0)}
        >
          {text}
          {shortcut && <Kbd>{shortcut}</Kbd>}
        </Bubble>
      )}
    </>
  );
}

interface BubbleProps {
  readonly anchor: Element;
  readonly side: Side;
  readonly onHide: () => void;
  readonly onStay: () => void;
  readonly onLeave: () => void;
  readonly children: ReactNode;
}

function Bubble({ anchor, side, onHide, onStay, onLeave, children }: BubbleProps) {
  const box = useRef<HTMLDivElement>(null);
  const hide = useRef(onHide);
  hide.current = onHide;
  // Placed before the browser paints, from the size that the text has.
  useLayoutEffect(() => {
    const follow = () => {
      if (!box.current) return;
      const { left, top } = place(anchor.getBoundingClientRect(), box.current.getBoundingClientRect(), side);
      box.current.style.left = `${left}px`;
      box.current.style.top = `${top}px`;
    };
    follow();
    // Tab scrolls to a control out of sight, so scrolling must not hide its tooltip.
    window.addEventListener("scroll", follow, true);
    return () => window.removeEventListener("scroll", follow, true);
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && hide.current();
    document.addEventListener("keydown", onKey, true);
    return () => document.removeEventListener("keydown", onKey, true);
  }, []);
  return createPortal(
    <div
      ref={box}
      aria-hidden="true"
      data-tooltip=""
      onPointerEnter={onStay}
      onPointerLeave={onLeave}
      className="fixed z-60 flex w-max max-w-72 animate-fade items-center gap-2 rounded-2 bg-raised px-2 py-1 text-12 text-text shadow-2"
    >
      {children}
    </div>,
    // A press on it inside a dialog would otherwise count as one beside the dialog.
    anchor.closest("[role=dialog]") ?? document.body,
  );
}

function place(anchor: DOMRect, box: DOMRect, wanted: Side): { left: number; top: number } {
  const side = isRoom(anchor, box, wanted) ? wanted : opposite[wanted];
  const left = {
    top: anchor.left + (anchor.width - box.width) / 2,
    bottom: anchor.left + (anchor.width - box.width) / 2,
    left: anchor.left - box.width - gapPx,
    right: anchor.right + gapPx,
  }[side];
  const top = {
    top: anchor.top - box.height - gapPx,
    bottom: anchor.bottom + gapPx,
    left: anchor.top + (anchor.height - box.height) / 2,
    right: anchor.top + (anchor.height - box.height) / 2,
  }[side];
  const maxLeft = document.documentElement.clientWidth - box.width - popupEdgePx;
  return { left: Math.max(popupEdgePx, Math.min(left, maxLeft)), top: Math.max(popupEdgePx, top) };
}

const opposite = { top: "bottom", bottom: "top", left: "right", right: "left" } as const;

function isRoom(anchor: DOMRect, box: DOMRect, side: Side): boolean {
  const { clientWidth, clientHeight } = document.documentElement;
  const room = {
    top: anchor.top - box.height,
    bottom: clientHeight - anchor.bottom - box.height,
    left: anchor.left - box.width,
    right: clientWidth - anchor.right - box.width,
  }[side];
  return room >= gapPx + popupEdgePx;
}
