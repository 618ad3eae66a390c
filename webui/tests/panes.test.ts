import { expect, test, vi } from "vitest";
import { START } from "../src/state/view";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }));
const { BOXES, COLUMNS, frontOf, PANES } = await import("../src/panes/registry");
const { KEYS, LOCAL_KEYS } = await import("../src/page/keys");

test("every pane has a box, and none has two", () => {
  const placed = BOXES.flatMap((box) => ("tabs" in box ? box.tabs.map((tab) => tab.id) : [box.id]));
  expect(placed).toEqual(PANES.map((pane) => pane.id));
  expect(new Set(placed).size).toBe(placed.length);
});

test("no box, pane or column has the name of another", () => {
  const names = [...BOXES, ...COLUMNS].map((one) => one.id);
  expect(new Set(names).size).toBe(names.length);
});

test("the view begins with the first tab of each box; one that there is not is the first, too", () => {
  for (const box of BOXES) {
    if (!("tabs" in box)) continue;
    expect(START[box.id]).toBe(box.tabs[0]!.id);
    expect(frontOf(box, "no such pane").id).toBe(box.tabs[0]!.id);
  }
});

test("keys and the help sheet are made of the panes", () => {
  const meanings = Object.fromEntries(KEYS.map((key) => [key.keys[0], key.meaning]));
  expect(meanings["1"]).toBe("go to the pane alerts");
  expect(meanings["6"]).toBe("go to the pane source, gradients, comparison or shell");
  expect(meanings["9"]).toBe("go to the pane tensor, history or lineage");
  expect(LOCAL_KEYS.map(([where]) => where)).toContain("executions");
});
