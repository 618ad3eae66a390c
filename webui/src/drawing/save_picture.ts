// Saves a plot of the page as SVG or PNG.

import { colour } from "./colours";

function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Writes the picture by itself, with what the page's style sheet gives it. */
function standalone(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const { width, height } = svg.getBoundingClientRect();
  copy.setAttribute("width", String(Math.round(width)));
  copy.setAttribute("height", String(Math.round(height)));
  copy.setAttribute("font-family", "system-ui, sans-serif");
  const text = new XMLSerializer().serializeToString(copy);
  return text.replace(/var\((--[\w-]+)\)/g, (_, name: string) => colour(name));
}

export function saveSvg(svg: SVGSVGElement, name: string): void {
  download(new Blob([standalone(svg)], { type: "image/svg+xml" }), `${name}.svg`);
}

export async function savePng(picture: SVGSVGElement | HTMLCanvasElement, name: string): Promise<void> {
  const canvas = picture instanceof HTMLCanvasElement ? picture : await drawn(picture);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done));
  if (blob) download(blob, `${name}.png`);
}

async function drawn(svg: SVGSVGElement): Promise<HTMLCanvasElement> {
  const { width, height } = svg.getBoundingClientRect();
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(standalone(svg))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * 2;
  canvas.height = height * 2;
  const context = canvas.getContext("2d")!;
  context.fillStyle = colour("--ground");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}
