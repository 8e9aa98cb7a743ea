import type { QrDesign } from "./design.ts";
import { type Drawing, drawingOf, svgText } from "./drawing.ts";

/** Whole pixels for each square, or a scanner sees blurred edges. The rest widens the margin. */
export async function pngBlob(drawing: Drawing, design: QrDesign): Promise<Blob> {
  const { width, path, hole } = drawing;
  const pixels = Math.max(design.pngPixels, width);
  const canvas = document.createElement("canvas");
  canvas.width = pixels;
  canvas.height = pixels;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("no canvas");
  if (!design.isTransparent) {
    context.fillStyle = design.light;
    context.fillRect(0, 0, pixels, pixels);
  }
  const scale = Math.floor(pixels / width);
  const rest = Math.floor((pixels - scale * width) / 2);
  context.setTransform(scale, 0, 0, scale, rest, rest);
  context.fillStyle = design.dark;
  context.fill(new Path2D(path));
  if (design.logo !== null && hole !== undefined) {
    const image = await imageOf(design.logo);
    const box = hole.size - 1;
    const ratio = image.naturalWidth / image.naturalHeight || 1;
    const [w, h] = ratio > 1 ? [box, box / ratio] : [box * ratio, box];
    context.drawImage(image, hole.at + (hole.size - w) / 2, hole.at + (hole.size - h) / 2, w, h);
  }
  return await new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no image"))), "image/png"),
  );
}

async function imageOf(dataUrl: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = dataUrl;
  await image.decode();
  return image;
}

export async function download(shortUrl: string, design: QrDesign, format: "svg" | "png"): Promise<void> {
  const drawing = drawingOf(shortUrl, design);
  const blob =
    format === "svg"
      ? new Blob([svgText(drawing, design, design.pngPixels)], { type: "image/svg+xml" })
      : await pngBlob(drawing, design);
  const address = URL.createObjectURL(blob);
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = `${nameOf(shortUrl)}.${format}`;
  anchor.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const nameOf = (shortUrl: string): string => shortUrl.replace(/^https?:\/\//, "").replaceAll(/[^\w-]+/g, "-");
