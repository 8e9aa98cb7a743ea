import { useQuery } from "@tanstack/react-query";
import ImageIcon from "lucide-react/icons/image";
import { type ChangeEvent, useRef, useState } from "react";
import { listQuery } from "../../../api/queries.ts";
import { qrTexts as t } from "../../../texts/edit.ts";
import { Button } from "../../../ui/button.tsx";
import { FieldError } from "../../../ui/field.tsx";
import { useWorkspace } from "../../../workspace.ts";
import { logoMostBytes, logoTypes, type QrDesign } from "./design.ts";

interface LogoFieldProps {
  readonly design: QrDesign;
  readonly onChange: (next: Partial<QrDesign>) => void;
}

export function LogoField({ design, onChange }: LogoFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isWrong, setWrong] = useState(false);
  const choose = async (event: ChangeEvent<HTMLInputElement>) => {
    const file = event.target.files?.[0];
    event.target.value = "";
    if (file === undefined) return;
    const isFine = file.size <= logoMostBytes && (logoTypes as readonly string[]).includes(file.type);
    const logo = isFine ? await dataUrlOf(file) : undefined;
    setWrong(logo === undefined);
    if (logo !== undefined) onChange({ logo });
  };
  return (
    <div className="grid gap-1.5">
      <p className="font-medium">{t.logo}</p>
      <div className="flex flex-wrap items-center gap-2">
        {design.logo && (
          <img src={design.logo} alt="" className="size-8 rounded-1 object-contain outline-1 outline-line" />
        )}
        <Button size="sm" icon={ImageIcon} onClick={() => input.current?.click()}>
          {t.logoChoose}
        </Button>
        {design.logo && (
          <Button size="sm" variant="quiet" onClick={() => onChange({ logo: null })}>
            {t.logoRemove}
          </Button>
        )}
      </div>
      <input
        ref={input}
        type="file"
        accept={logoTypes.join(",")}
        aria-label={t.logoChoose}
        tabIndex={-1}
        className="sr-only"
        onChange={(event) => void choose(event)}
      />
      {isWrong && <FieldError>{t.logoWrong}</FieldError>}
      <p className="text-12 text-text-3">{t.logoHint}</p>
    </div>
  );
}

/** Only what the browser can show as an image. */
async function dataUrlOf(file: Blob): Promise<string | undefined> {
  const text = await new Promise<string | undefined>((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(typeof reader.result === "string" ? reader.result : undefined);
    reader.onerror = () => resolve(undefined);
    reader.readAsDataURL(file);
  });
  if (text === undefined) return undefined;
  try {
    const image = new Image();
    image.src = text;
    await image.decode();
    return text;
  } catch {
    return undefined;
  }
}

/** Colour and logo of the workspace's pages for visitors, if it has any. */
export function BrandButton({ onChange }: { readonly onChange: (next: Partial<QrDesign>) => void }) {
  const { slug } = useWorkspace();
  const { data: brand } = useQuery({ ...listQuery(slug, "GET /api/branding"), staleTime: 60_000, retry: false });
  if (!brand?.logo && !brand?.colours) return null;
  const { logo, colours } = brand;
  const apply = async () => {
    const image = logo && (await imageAt(logo.url));
    onChange({ ...(colours && { dark: colours.light, light: "#ffffff" }), ...(image && { logo: image }) });
  };
  return (
    <div>
      <Button size="sm" onClick={() => void apply()}>
        {t.brand}
      </Button>
    </div>
  );
}

async function imageAt(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url);
    return response.ok ? await dataUrlOf(await response.blob()) : undefined;
  } catch {
    return undefined;
  }
}
