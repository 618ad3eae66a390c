// Computes which rows of a very long table are on the screen; no element is as tall as the table.

export interface Track {
  rows: number; // of the table
  visible: number; // whole rows that fit
  height: number; // of the scrollbar, in pixels
}

const LEAST_THUMB = 24;

function lastTop(track: Track): number {
  return Math.max(0, track.rows - track.visible);
}

export function clampTop(top: number, track: Track): number {
  return Math.min(Math.max(0, Math.round(top)), lastTop(track));
}

export function thumb(top: number, track: Track): { at: number; size: number } {
  if (track.rows <= track.visible) return { at: 0, size: track.height };
  const size = Math.min(track.height, Math.max(LEAST_THUMB, (track.height * track.visible) / track.rows));
  return { at: (top / lastTop(track)) * (track.height - size), size };
}

/** The first row when the thumb's upper edge is dragged to a pixel. */
export function topOfThumb(at: number, track: Track): number {
  const room = track.height - thumb(0, track).size;
  return room <= 0 ? 0 : clampTop((at / room) * lastTop(track), track);
}

/** The least move of the first row that shows a row; a row out of sight comes to a third of the window. */
export function topToShow(row: number, top: number, track: Track): number {
  if (row >= top && row < top + track.visible) return top;
  const isNear = row >= top - 2 && row < top + track.visible + 2;
  if (isNear) return clampTop(row < top ? row : row - track.visible + 1, track);
  return clampTop(row - Math.floor(track.visible / 3), track);
}

/** The numbers of the pages, each of `size` rows, that hold the rows from `first` on. */
export function pagesOf(first: number, rows: number, size: number): number[] {
  const found = [];
  for (let page = Math.floor(first / size); page * size < first + rows; page++) found.push(page);
  return found;
}

/** A wheel's pixels as rows; what is less than a row is carried to the next event. */
export function wheelRows(delta: number, carried: number, rowHeight: number): { rows: number; carried: number } {
  const all = delta + carried;
  const rows = Math.trunc(all / rowHeight);
  return { rows, carried: all - rows * rowHeight };
}
