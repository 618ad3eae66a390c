import { expect, test } from "vitest";
import { numberAt, parsePage, textAt } from "../src/server/column_page";

/** A page as the server writes it. */
function page(columns: { name: string; type: string; bytes: Uint8Array }[], header: object): ArrayBuffer {
  let offset = 0;
  const described = columns.map(({ name, type, bytes }) => {
    const one = { name, type, offset, bytes: bytes.length };
    offset += bytes.length + ((8 - (bytes.length % 8)) % 8);
    return one;
  });
  let said = JSON.stringify({ ...header, columns: described });
  said += " ".repeat((8 - ((4 + said.length) % 8)) % 8);
  const all = new Uint8Array(4 + said.length + offset);
  new DataView(all.buffer).setUint32(0, said.length, true);
  all.set(new TextEncoder().encode(said), 4);
  described.forEach((one, at) => all.set(columns[at]!.bytes, 4 + said.length + one.offset));
  return all.buffer;
}

const raw = (array: ArrayBufferView) => new Uint8Array(array.buffer as ArrayBuffer);

test("columns come out as they went in", () => {
  const found = parsePage(
    page(
      [
        { name: "slot", type: "i16", bytes: raw(new Int16Array([0, 1, -1])) },
        { name: "max", type: "f64", bytes: raw(new Float64Array([1.5, NaN, -Infinity])) },
        { name: "name", type: "text", bytes: raw(new Int32Array([1, 0, 1])) },
      ],
      { total: 10_000_000, rows: 3, strings: { name: ["a<b>", "dense/MatMul"] }, at: 7 },
    ),
  );
  expect([found.total, found.rows, found.header.at]).toEqual([10_000_000, 3, 7]);
  expect([0, 1, 2].map((row) => numberAt(found, "slot", row))).toEqual([0, 1, -1]);
  expect([0, 1, 2].map((row) => numberAt(found, "max", row))).toEqual([1.5, NaN, -Infinity]);
  expect([0, 1, 2].map((row) => textAt(found, "name", row))).toEqual(["dense/MatMul", "a<b>", "dense/MatMul"]);
  expect(numberAt(found, "nothing", 0)).toBeNull();
});

test("a page that is cut off is refused", () => {
  const whole = page([{ name: "max", type: "f64", bytes: raw(new Float64Array(8)) }], { total: 8, rows: 8 });
  expect(() => parsePage(whole.slice(0, whole.byteLength - 16))).toThrow("ends inside max");
  expect(() => parsePage(whole.slice(0, 12))).toThrow("header");
  expect(() => parsePage(new ArrayBuffer(2))).toThrow("too short");
});
