// Lists all panes, in the order of the page. The page, its keys, the help sheet and the palette are made of this list.

import type { Column, PaneAbout, PaneInColumn, PaneInTabs, Tabs } from "./about";
import { alertsPane } from "./alerts";
import { comparePane } from "./compare";
import { executionsPane } from "./executions";
import { gradientsPane } from "./gradients";
import { historyPane } from "./history";
import { layersPane } from "./layers";
import { lineagePane } from "./lineage";
import { shellPane } from "./shell";
import { sourcePane } from "./source";
import { stackPane } from "./stack";
import { stepsPane } from "./steps";
import { nearPane } from "./structure/near";
import { wholePane } from "./structure/whole";
import { tensorPane } from "./tensor/tensor";
import { tensorsPane } from "./tensors";

export const PANES: readonly PaneAbout[] = [
  alertsPane,
  layersPane,
  stepsPane,
  executionsPane,
  tensorsPane,
  sourcePane,
  gradientsPane,
  comparePane,
  shellPane,
  stackPane,
  nearPane,
  wholePane,
  tensorPane,
  historyPane,
  lineagePane,
];

export const COLUMNS: readonly { id: Column; width: number; where: string }[] = [
  { id: "left", width: 240, where: "on the left" },
  { id: "middle", width: 725, where: "in the middle" },
  { id: "right", width: 345, where: "on the right" },
];

const TABS: Record<Tabs, { column: Column; weight: number }> = {
  centre: { column: "middle", weight: 3 },
  structure: { column: "right", weight: 3 },
  side: { column: "right", weight: 3 },
};

/** A box with a tab for each of several panes. */
export interface TabsBox {
  id: Tabs;
  title: string;
  word: string;
  weight: number;
  tabs: readonly PaneInTabs[];
}

export type PlacedBox = PaneInColumn | TabsBox;

export function isInTabs(pane: PaneAbout): pane is PaneInTabs {
  return pane.place in TABS;
}

/** From top to bottom. A box of tabs is where the first of them is listed. */
export function boxesIn(column: Column): PlacedBox[] {
  const found = new Map<string, PlacedBox>();
  for (const pane of PANES) {
    if (!isInTabs(pane)) {
      if (pane.place === column) found.set(pane.id, pane);
    } else if (TABS[pane.place].column === column && !found.has(pane.place)) {
      found.set(pane.place, tabsBox(pane.place));
    }
  }
  return [...found.values()];
}

export const BOXES: readonly PlacedBox[] = COLUMNS.flatMap(({ id }) => boxesIn(id));

function tabsBox(id: Tabs): TabsBox {
  const tabs = PANES.filter(isInTabs).filter((pane) => pane.place === id);
  const words = [...new Set(tabs.map((pane) => pane.word))];
  const title = words.join(", ");
  const word = [words.slice(0, -1).join(", "), ...words.slice(-1)].filter(Boolean).join(" or ");
  return { id, word, title: title.charAt(0).toUpperCase() + title.slice(1), tabs, weight: TABS[id].weight };
}

/** Where on the page a box of tabs is, in words. */
export function whereIs(box: Tabs): string {
  return COLUMNS.find((one) => one.id === TABS[box].column)!.where;
}

/** Which of its tabs is in front. */
export function frontOf(box: TabsBox, id: string): PaneInTabs {
  return box.tabs.find((one) => one.id === id) ?? box.tabs[0]!;
}
