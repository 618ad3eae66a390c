import { expect, test } from "vitest";
import { fromHash, START, toHash, type View } from "../src/state/view";

test("a view survives the way through the URL", () => {
  const view: View = {
    ...START,
    trace: "mnist~2",
    step: 0,
    seq: 438,
    where: 'name ~ "a&b=c#" and nan > 0',
    desc: true,
    sort: "max",
    file: "/a b/ü.py",
    line: 7,
    slice: "[0, :]",
  };
  expect(fromHash(toHash(view))).toEqual(view);
});

test("a link says only what differs from the start", () => {
  expect(toHash(START)).toBe("#");
  expect(toHash({ ...START, trace: "x", step: 0 })).toBe("#trace=x&step=0");
});

test("what a link says wrongly is as at the start", () => {
  expect(fromHash("#step=many&seq=1e9&nonsense=1&desc=yes&__proto__=1&constructor=1")).toEqual(START);
  expect(fromHash("")).toEqual(START);
});
