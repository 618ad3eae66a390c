import { expect, test } from "vitest";
import { roundTicks } from "../src/drawing/axes";
import { moved, zoomed } from "../src/drawing/step_range";
import { fixedIndices, pictureSlice, sliceAt } from "../src/panes/tensor/slices";
import { brief, bytes, count, fromWire, number, seconds, shape } from "../src/words/format";
import { match } from "../src/words/matching";
import { underlined } from "../src/words/underline";

test("numbers are written for people", () => {
  expect([0, 0.5, -12.34567, 1216, 3.2e-7, -87_057_876, NaN, -Infinity].map(number)).toEqual([
    "0",
    "0.5",
    "−12.346",
    "1,216",
    "3.2e−7",
    "−8.706e7",
    "NaN",
    "−∞",
  ]);
  expect([count(1234567), count(null), bytes(999), bytes(12_345_678), seconds(0.00123), seconds(75)]).toEqual([
    "1,234,567",
    "–",
    "999 B",
    "12 MB",
    "1.23 ms",
    "1 min 15 s",
  ]);
  expect([brief(-0.00520833), brief(-87.05787), brief(4.746e36), brief(123456), brief(-5.96e-8)]).toEqual([
    "−5.21e−3",
    "−87.06",
    "4.746e36",
    "123,500",
    "−5.96e−8",
  ]);
  expect([shape([128, 10]), shape([]), shape(null)]).toEqual(["128×10", "scalar", "?"]);
});

test("numbers that JSON does not have", () => {
  expect(["NaN", "Infinity", "-Infinity", 1.5, null, "word"].map(fromWire)).toEqual([
    NaN,
    Infinity,
    -Infinity,
    1.5,
    null,
    null,
  ]);
});

test("ticks are round", () => {
  expect(roundTicks(0, 19, 5)).toEqual([0, 5, 10, 15]);
  expect(roundTicks(0.1, 0.35, 3)).toEqual([0.1, 0.2, 0.3]);
  expect(roundTicks(2, 2, 5)).toEqual([2]);
});

test("outer dimensions are pages", () => {
  expect(pictureSlice([8, 3, 32, 32], "")).toBe("[0, 0, :, :]");
  expect(pictureSlice([32, 32], "")).toBe("");
  expect(fixedIndices("[2, 1, :, :10]")).toEqual([2, 1]);
  expect(sliceAt([8, 3, 32, 32], fixedIndices("[2, 1, :, :]"))).toBe("[2, 1, :, :]");
});

test("zooming stays inside the run and keeps the step under the pointer", () => {
  const whole = { first: 0, last: 999 };
  const near = zoomed(whole, whole, 0.5, 250);
  expect(near).toEqual({ first: 125, last: 624 });
  expect(zoomed(near, whole, 4, 300)).toEqual(whole);
  expect(moved(near, whole, 5000)).toEqual({ first: 500, last: 999 });
});

test("the palette finds words in titles first", () => {
  expect(match("log", "Log:0", "Log, step 0")).toBe(0);
  expect(match("grad log", "gradients/Log_grad/mul:0")).toBe(10);
  expect(match("bad", "lt -f has_inf_or_nan", "bad tensors")).toBe(100);
  expect(match("xyz", "Log:0", "step")).toBeNull();
});

test("the call that made an op is underlined", () => {
  const line = "loss = -tf.reduce_sum(y * tf.math.log(f(p)))";
  const [from, end] = underlined(line, "Log");
  expect(line.slice(from, end)).toBe("tf.math.log(f(p))");
  expect(underlined("a = b + c", "AddV2")).toEqual([0, 0]);
});
