// Puts the page on the document. The page of its own and TensorBoard both call render(), the one entry.

import "./index.css";
import { render as put } from "preact";
import { App } from "./page/app";
import { listenToKeys } from "./page/keys";
import { followTitle } from "./page/window_title";
import { markSameSubject } from "./parts/same_subject";
import { startLoads } from "./state/chosen";
import { startLanding } from "./state/landing";
import { listen } from "./state/live";
import { followTheme } from "./state/settings";
import { followUrl } from "./state/view";
import { groups } from "./table/groups";
import { rows } from "./table/rows";

export function render(): void {
  void styled().then(start);
}

function start(): void {
  followUrl();
  followTheme();
  startLoads();
  startLanding();
  followTitle();
  rows.start();
  groups.start();
  listenToKeys();
  listen();
  markSameSubject(document.body);
  put(<App />, document.body);
}

/** TensorBoard loads this file alone, so it brings its style sheet, which comes first: pictures have its colours. */
function styled(): Promise<unknown> {
  if (document.querySelector('link[rel="stylesheet"]')) return Promise.resolve();
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL(/* @vite-ignore */ "./style.css", import.meta.url).href;
  const loaded = new Promise((done) => {
    link.addEventListener("load", done);
    link.addEventListener("error", done);
  });
  document.head.append(link);
  return loaded;
}
