// Chooses the place where bad values began, when nobody has chosen anything yet.

import { effect } from "@preact/signals";
import type { HealthAlert, Origin } from "../server/answers";
import { isJudged, overview, verdict } from "./chosen";
import { go, NOTHING, START, view, type View } from "./view";

/** Where bad values began, in all panes. */
export function toOrigin(origin: Origin): Partial<View> {
  return {
    ...NOTHING,
    process: (overview.peek().data?.processes.length ?? 1) > 1 ? origin.process : null,
    step: origin.step >= 0 ? origin.step : null,
    seq: origin.seq,
    file: origin.file ?? "",
    line: origin.line,
    only: false,
    where: "",
    made: "",
    within: null,
  };
}

export function toHealthAlert(alert: HealthAlert): Partial<View> {
  return {
    ...NOTHING,
    file: alert.file ?? "",
    line: alert.line,
    step: alert.step >= 0 ? alert.step : null,
    centre: "source",
  };
}

// Whoever came by a link that says one of these, or chose it meanwhile, is left alone.
const CHOICES = [
  ...Object.keys(NOTHING), "process", "step", "where", "made", "within", "sort", "group", "from", "scope",
];

function isUntouched(now: View): boolean {
  return CHOICES.every((name) => now[name as keyof View] === START[name as keyof View]);
}

/** Begins to choose, once for each trace that is come to; returns a function that stops it. */
export function startLanding(): () => void {
  let landed = "";
  return effect(() => {
    const { data } = verdict.value;
    const now = view.value;
    if (landed && landed !== now.trace) landed = "";
    if (!data || !isJudged.value || !overview.value.data || data.trace !== now.trace || landed === now.trace) return;
    const [origin, alert] = [data.origins[now.origin] ?? data.origins[0], data.alerts[0]];
    if (!isUntouched(now)) landed = now.trace;
    else if (origin) go(toOrigin(origin), true);
    else if (alert?.file) go(toHealthAlert(alert), true);
  });
}
