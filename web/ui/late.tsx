import {
  cloneElement,
  type KeyboardEvent,
  type MouseEvent,
  type ReactElement,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { reloadForScript } from "../missing-script.ts";

/**
 * What opens from a button is loaded when somebody is about to press it: menus and popovers bring 40 kB that no page needs to be
 * shown. Until then the button is a plain one; the press that finds it not loaded yet opens it as soon as it is.
 */
export interface Late<Parts> {
  readonly parts: () => Parts | undefined;
  load(): Promise<void>;
}

export function late<Parts>(importParts: () => Promise<Parts>): Late<Parts> {
  let parts: Parts | undefined;
  let loading: Promise<void> | undefined;
  return {
    parts: () => parts,
    load() {
      loading ??= importParts().then(
        (loaded) => {
          parts = loaded;
        },
        () => {
          loading = undefined; // the next press tries again
        },
      );
      return loading;
    },
  };
}

interface LateTriggerProps {
  readonly trigger: ReactElement;
  readonly kind: "menu" | "dialog";
  readonly isOpen: boolean | undefined;
  readonly late: Late<unknown>;
  /** Called once it is loaded and should open. */
  readonly onReady: (isByKeyboard: boolean) => void;
}

interface Pressable {
  readonly onClick?: () => void;
}

/** The button before what it opens is loaded. */
export function LateTrigger({ trigger, kind, isOpen, late: { load, parts }, onReady }: LateTriggerProps) {
  const [isPressed, setIsPressed] = useState(false);
  const isByKeyboard = useRef(false);
  const wanted = isPressed || isOpen === true;
  useEffect(() => {
    if (!wanted) return;
    let isGone = false;
    void load().then(() => {
      if (isGone) return;
      if (parts() !== undefined) return onReady(isByKeyboard.current);
      setIsPressed(false);
      reloadForScript();
    });
    return () => {
      isGone = true;
    };
  }, [wanted, load, parts, onReady]);
  const given = trigger.props as Pressable;
  return cloneElement(trigger as ReactElement<Record<string, unknown>>, {
    "aria-haspopup": kind,
    "aria-expanded": false,
    onPointerEnter: () => void load(),
    onFocus: () => void load(),
    onClick({ detail }: MouseEvent) {
      isByKeyboard.current = detail === 0;
      // By the keyboard it is pressed again once it is loaded.
      if (detail !== 0) given.onClick?.();
      setIsPressed(true);
    },
    onKeyDown(event: KeyboardEvent) {
      if (kind !== "menu" || event.key !== "ArrowDown") return;
      event.preventDefault();
      isByKeyboard.current = true;
      setIsPressed(true);
    },
  });
}

/**
 * For the button that takes the place of the late one. If that one had the focus, this one takes it over before anything notices: a
 * drawer around it that misses the focus takes it a moment later, and closes with that what was just opened. After the keyboard it
 * is pressed too, so that the first time is like every other.
 */
export function useTakeOver(isPressed: boolean | undefined): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  const isDone = useRef(false);
  useLayoutEffect(() => {
    if (document.activeElement === document.body) button.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    if (!isPressed || isDone.current) return;
    isDone.current = true;
    button.current?.click();
  }, [isPressed]);
  return button;
}
