import { expect, test } from "vitest";
import { curveWithin } from "../src/panes/layers";
import { lineCount, lineOf, placeAt } from "../src/table/grouping";

const UNFOLDED = [
  { group: 1, rows: 2 },
  { group: 2, rows: 0 },
  { group: 4, rows: 1 },
];

test("groups and the rows of unfolded ones are the lines of one list", () => {
  const total = lineCount(6, UNFOLDED);
  expect(total).toBe(9);
  const places = Array.from({ length: total }, (_, line) => placeAt(line, UNFOLDED));
  expect(places.map(({ group, row }) => `${group}${row === null ? "" : `.${row}`}`)).toEqual(
    ["0", "1", "1.0", "1.1", "2", "3", "4", "4.0", "5"],
  );
  places.forEach((place, line) => expect(lineOf(place, UNFOLDED)).toBe(line));
});

test("folded groups are as many lines", () => {
  expect(lineCount(10_000, [])).toBe(10_000);
  expect(placeAt(9_999, [])).toEqual({ group: 9_999, row: null });
});

test("the gradient of a scope is that of all layers in it", () => {
  const curves = [
    { name: "model/dense", steps: [0, 1], values: [3, null], bad: [0, 2] },
    { name: "model/out", steps: [0, 1], values: [4, 5], bad: [0, 0] },
    { name: "model_2/out", steps: [0], values: [7], bad: [0] },
  ];
  expect(curveWithin("model", curves)).toEqual({ name: "model", steps: [0, 1], values: [5, 5], bad: [0, 2] });
  expect(curveWithin("model/dense", curves)).toBe(curves[0]);
  expect(curveWithin("mod", curves)).toBeUndefined();
});
