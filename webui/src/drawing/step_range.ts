// Zooms and moves a range of steps. Both ends belong to it.

export interface Range {
  first: number;
  last: number;
}

const LEAST = 4; // steps that are shown at least

export function zoomed(range: Range, whole: Range, factor: number, around: number): Range {
  const width = Math.max(LEAST, (range.last - range.first + 1) * factor);
  if (width >= whole.last - whole.first + 1) return whole;
  const share = (around - range.first) / Math.max(1, range.last - range.first);
  return moved({ first: around - share * (width - 1), last: around + (1 - share) * (width - 1) }, whole, 0);
}

export function moved(range: Range, whole: Range, by: number): Range {
  const width = Math.round(range.last - range.first);
  const first = Math.round(Math.max(whole.first, Math.min(whole.last - width, range.first + by)));
  return { first, last: Math.min(whole.last, first + width) };
}

export function isWhole(range: Range, whole: Range): boolean {
  return range.first <= whole.first && range.last >= whole.last;
}
