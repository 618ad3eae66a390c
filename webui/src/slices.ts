// A shape and what the user chose of it in; the slice that is asked for, and pages of outer dimensions, out.

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

/** How a part is laid out as rows and columns. */
export function asRows(part: readonly number[]): { rows: number; columns: number } {
  const columns = part.at(-1) ?? 1;
  const all = part.reduce((product, size) => product * size, 1);
  return { rows: columns ? all / columns : 0, columns };
}
