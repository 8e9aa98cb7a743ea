import Check from "lucide-react/icons/check";
import Copy from "lucide-react/icons/copy";
import { type ReactNode, useEffect, useState } from "react";
import { Button, type ButtonSize, type ButtonVariant, IconButton } from "./button.tsx";
import { copyText } from "./copy-text.ts";

interface CopyButtonProps {
  readonly text: string;
  /** "Copy al.example/winter". */
  readonly label: string;
  /** "Copied": shown and announced for two seconds. */
  readonly copiedLabel: string;
  /** With words it is a button, without only the icon. */
  readonly children?: ReactNode;
  readonly size?: "xs" | ButtonSize | undefined;
  readonly variant?: ButtonVariant | undefined;
  readonly className?: string | undefined;
  readonly onCopied?: (() => void) | undefined;
}

const shownMs = 2_000;

export function CopyButton(props: CopyButtonProps) {
  const { text, label, copiedLabel, children, size = "xs", variant, className, onCopied } = props;
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    if (!(await copyText(text))) return;
    setCopied(true);
    onCopied?.();
  };
  const icon = isCopied ? Check : Copy;
  return (
    <>
      {children === undefined ? (
        <IconButton
          icon={icon}
          label={isCopied ? copiedLabel : label}
          size={size}
          variant={variant}
          className={className}
          onClick={copy}
        />
      ) : (
        <Button icon={icon} size={size === "xs" ? "sm" : size} variant={variant} className={className} onClick={copy}>
          {isCopied ? copiedLabel : children}
        </Button>
      )}
      <span role="status" className="sr-only">
        {isCopied && copiedLabel}
      </span>
    </>
  );
}
