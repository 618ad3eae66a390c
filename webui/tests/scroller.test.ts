import { expect, test } from "vitest";
import { clampTop, pagesOf, thumb, topOfThumb, topToShow, wheelRows } from "../src/table/scroller";

const TRACK = { rows: 10_000_000, visible: 20, height: 440 };

test("the thumb reaches both ends of ten million rows", () => {
  expect(topOfThumb(0, TRACK)).toBe(0);
  expect(topOfThumb(440, TRACK)).toBe(9_999_980);
  const { at, size } = thumb(9_999_980, TRACK);
  expect(at + size).toBeCloseTo(440);
  expect(size).toBe(24);
});

test("a thumb that is dragged to where it is drawn stays there", () => {
  for (const top of [0, 1234, 5_000_000, 9_000_000]) {
    expect(Math.abs(topOfThumb(thumb(top, TRACK).at, TRACK) - top)).toBeLessThanOrEqual(1);
  }
});

test("few rows need no scrolling", () => {
  const few = { ...TRACK, rows: 3 };
  expect(thumb(0, few)).toEqual({ at: 0, size: 440 });
  expect([clampTop(7, few), topOfThumb(300, few)]).toEqual([0, 0]);
});

test("a row comes into sight with the least move", () => {
  expect(topToShow(105, 100, TRACK)).toBe(100);
  expect(topToShow(99, 100, TRACK)).toBe(99);
  expect(topToShow(120, 100, TRACK)).toBe(101);
  expect(topToShow(9_000_000, 100, TRACK)).toBe(8_999_994);
  expect(topToShow(0, 100, TRACK)).toBe(0);
});

test("pages that hold the rows in sight", () => {
  expect(pagesOf(0, 20, 200)).toEqual([0]);
  expect(pagesOf(190, 20, 200)).toEqual([0, 1]);
  expect(pagesOf(200, 20, 200)).toEqual([1]);
});

test("a slow wheel adds up to rows", () => {
  let carried = 0;
  let rows = 0;
  for (let turn = 0; turn < 10; turn++) {
    const next = wheelRows(5, carried, 22);
    carried = next.carried;
    rows += next.rows;
  }
  expect(rows).toBe(2);
});
