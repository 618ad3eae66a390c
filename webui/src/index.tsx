// The page's one entry: render() puts it on the document. The page of its own and TensorBoard both call it.

import "./index.css";
import { render as put } from "preact";
import { App } from "./app";
import { startFocus } from "./focus";
import { listenToKeys } from "./keys";
import { markKin } from "./kin";
import { listen } from "./live";
import { groups } from "./groups";
import { rows } from "./rows";
import { followTheme } from "./settings";
import { followUrl } from "./view";

export function render(): void {
  addStyles();
  document.title = "tdbg";
  followUrl();
  followTheme();
  startFocus();
  rows.start();
  groups.start();
  listenToKeys();
  listen();
  markKin(document.body);
  put(<App />, document.body);
}

/** TensorBoard loads this file alone, so it brings its style sheet. */
function addStyles(): void {
  if (document.querySelector('link[rel="stylesheet"]')) return;
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL(/* @vite-ignore */ "./style.css", import.meta.url).href;
  document.head.append(link);
}
