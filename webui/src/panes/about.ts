// Declares what a pane says of itself: its file has such a description, and registry.ts lists it.

import type { FunctionComponent } from "preact";

export type Column = "left" | "middle" | "right";

/** A box whose panes are tabs: the member of the view of that name says which is in front. */
export type Tabs = "centre" | "structure" | "side";

interface Named {
  id: string;
  title: string; // its heading, or its tab
  word: string; // what the help sheet calls it
  keys?: string; // what keys do while it holds the focus
}

/** A pane with a box of its own, which it draws. */
export interface PaneInColumn extends Named {
  place: Column;
  weight?: number; // of its height beside others
  height?: string; // one that does not grow with the column
  shows: FunctionComponent;
}

/** A pane that is a tab beside others. */
export interface PaneInTabs extends Named {
  place: Tabs;
  found: string; // what the palette calls it
  shows: FunctionComponent; // below the tab
  actions?: FunctionComponent; // beside the tabs
}

export type PaneAbout = PaneInColumn | PaneInTabs;
