// Counts and finds the lines of groups, of which some are unfolded.

export interface Unfolded {
  group: number; // its place among the groups
  rows: number;
}

/** A line is a group's own when `row` is null. */
interface Place {
  group: number;
  row: number | null;
}

/** `unfolded` is in the order of the groups, here and below. */
export function lineCount(groups: number, unfolded: readonly Unfolded[]): number {
  return unfolded.reduce((sum, one) => sum + one.rows, groups);
}

export function placeAt(line: number, unfolded: readonly Unfolded[]): Place {
  let rows = 0; // of unfolded groups before
  for (const one of unfolded) {
    const own = one.group + rows;
    if (line <= own) break;
    if (line <= own + one.rows) return { group: one.group, row: line - own - 1 };
    rows += one.rows;
  }
  return { group: line - rows, row: null };
}

export function lineOf(place: Place, unfolded: readonly Unfolded[]): number {
  const before = unfolded.filter((one) => one.group < place.group);
  return lineCount(place.group, before) + (place.row === null ? 0 : place.row + 1);
}
