// Reads a binary page of columns as typed arrays.

export interface Page {
  total: number;
  rows: number;
  header: Record<string, unknown>;
  columns: Map<string, Column>;
}

interface Column {
  values: ArrayLike<number>;
  strings: string[] | null;
}

interface Described {
  name: string;
  type: string;
  offset: number;
  bytes: number;
}

const ARRAYS: Record<string, new (buffer: ArrayBuffer) => ArrayLike<number>> = {
  u8: Uint8Array,
  u16: Uint16Array,
  i16: Int16Array,
  i32: Int32Array,
  text: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
};

/** A page is the length of its header (u32), the header as JSON, and little-endian arrays; their offsets count from the
 * header's end. */
export function parsePage(buffer: ArrayBuffer): Page {
  if (buffer.byteLength < 4) throw new Error("the page of columns is too short");
  const length = new DataView(buffer).getUint32(0, true);
  const body = 4 + length;
  if (body > buffer.byteLength) throw new Error("the page of columns ends inside its header");
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const columns = new Map<string, Column>();
  for (const { name, type, offset, bytes } of header.columns as Described[]) {
    const array = ARRAYS[type];
    if (!array) throw new Error(`the column ${name} has the unknown type ${type}`);
    if (body + offset + bytes > buffer.byteLength) throw new Error(`the page of columns ends inside ${name}`);
    // A copy, because typed arrays must begin at a multiple of their element's size.
    const values = new array(buffer.slice(body + offset, body + offset + bytes));
    columns.set(name, { values, strings: header.strings?.[name] ?? null });
  }
  return { total: header.total, rows: header.rows, header, columns };
}

/** A column's number at a row; null where there is no such column. What was not measured is NaN. */
export function numberAt(page: Page, name: string, row: number): number | null {
  const value = page.columns.get(name)?.values[row];
  return value === undefined ? null : value;
}

/** A text: the column holds its index among the page's strings. */
export function textAt(page: Page, name: string, row: number): string {
  const column = page.columns.get(name);
  if (!column?.strings) return "";
  return column.strings[column.values[row] ?? -1] ?? "";
}
