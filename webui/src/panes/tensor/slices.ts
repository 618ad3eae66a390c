// Writes and reads slices of a tensor: which part of it is asked for and shown.

/** The indices of a slice text, as far as they fix outer dimensions: "[2, 0, :, :]" gives [2, 0]. */
export function fixedIndices(slice: string): number[] {
  const found: number[] = [];
  for (const part of slice.replace(/^\[|\]$/g, "").split(",")) {
    if (!/^\s*-?\d+\s*$/.test(part)) break;
    found.push(Number(part));
  }
  return found;
}

/** The slice that shows two dimensions of a tensor: all outer ones fixed, at 0 where nothing was chosen. */
export function pictureSlice(shape: readonly number[], slice: string): string {
  if (slice) return slice;
  return shape.length <= 2 ? "" : sliceAt(shape, []);
}

export function sliceAt(shape: readonly number[], fixed: readonly number[]): string {
  const outer = shape.slice(0, -2).map((_, at) => String(fixed[at] ?? 0));
  return `[${[...outer, ":", ":"].join(", ")}]`;
}

const [TALL, WIDE] = [100, 400]; // of the part that is shown around an element of what is too large at once

/** The slice that shows an element: all outer dimensions fixed, and of the last two so much that it is shown. Where it
 * is in it is told as a row and a column. */
export function sliceAround(
  shape: readonly number[],
  index: readonly number[],
  most: number,
): { slice: string; row: number; column: number } {
  const [high, wide] = [shape.length > 1 ? shape.at(-2)! : 1, shape.at(-1) ?? 1];
  const [row, column] = [index.length > 1 ? index.at(-2)! : 0, index.at(-1) ?? 0];
  if (high * wide <= most) {
    const slice = shape.length > 2 ? sliceAt(shape, index.slice(0, -2)) : "";
    return { slice, row, column };
  }
  const [top, left] = [row - (row % TALL), column - (column % WIDE)];
  const columns = `${left}:${Math.min(wide, left + WIDE)}`;
  const inner = shape.length > 1 ? [`${top}:${Math.min(high, top + TALL)}`, columns] : [columns];
  return { slice: `[${[...index.slice(0, -2), ...inner].join(", ")}]`, row: row - top, column: column - left };
}

/** The place, in the order of memory, of an element of a slice; -1 when the slice does not tell. */
export function placeIn(shape: readonly number[], slice: string, element: string): number {
  const [row, column] = element.split(",").map(Number);
  if (row === undefined || column === undefined || !element) return -1;
  const parts = slice ? slice.replace(/^\[|\]$/g, "").split(",") : shape.map(() => ":");
  if (parts.length !== shape.length) return -1;
  const inner = shape.length > 1 ? [row, column] : [column];
  let place = 0;
  for (const [at, size] of shape.entries()) {
    const found = /^\s*(\d*)(:?)\d*\s*$/.exec(parts[at]!);
    if (!found) return -1;
    const index = Number(found[1] || 0) + (found[2] ? (inner[at - shape.length + inner.length] ?? 0) : 0);
    place = place * size + index;
  }
  return place;
}

/** How a part is laid out as rows and columns. */
export function asRows(part: readonly number[]): { rows: number; columns: number } {
  const columns = part.at(-1) ?? 1;
  const all = part.reduce((product, size) => product * size, 1);
  return { rows: columns ? all / columns : 0, columns };
}
