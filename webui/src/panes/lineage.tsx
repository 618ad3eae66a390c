// Answers "where did this come from?": the way of a value, op by op, back to where it began. Each stop is a link.

import { about, ofOp, ofPlace } from "../parts/same_subject";
import { Show } from "../parts/show";
import { harmlessOps, inTrace } from "../state/chosen";
import { useLoad } from "../state/load";
import { when } from "../state/moments";
import { go, hashOf, NOTHING, viewed, type View } from "../state/view";
import { count, fileName, fromWire, number } from "../words/format";
import type { PaneInTabs } from "./about";

export const lineagePane: PaneInTabs = {
  id: "lineage",
  title: "Lineage",
  word: "lineage",
  found: "where did this come from?",
  place: "side",
  shows: LineageOfTensor,
};

function LineageOfTensor() {
  const loaded = useLoad(() =>
    viewed.seq.value === null ? "" : inTrace("lineage", { process: viewed.process.value, seq: viewed.seq.value }),
  );
  return (
    <Show
      loaded={loaded}
      empty="Choose a tensor to see where its value came from, back to where bad values began or to what entered the program."
    >
      {(way) => (
        <ol class="list way" aria-label="Where it came from, the chosen tensor first">
          {way.stops.map((stop, at) => {
            const to: Partial<View> = {
              ...NOTHING,
              seq: stop.seq,
              step: stop.step >= 0 ? stop.step : viewed.step.value,
            };
            return (
              <li key={at}>
                <a
                  href={hashOf(to)}
                  {...about([ofOp(stop.op)], stop.file ? [ofPlace(stop.file, stop.line)] : [])}
                  aria-current={stop.seq === viewed.seq.value}
                  title={`event #${count(stop.seq)}`}
                  onClick={(event) => {
                    event.preventDefault();
                    go(to);
                  }}
                >
                  <span class="arrow" aria-hidden="true">
                    {at ? "↑" : "●"}
                  </span>
                  <span class="two">
                    <span class="clip">
                      <b class="mono">{stop.tensor}</b>{" "}
                      <span class="dim">
                        {stop.op_type}, {when(stop.step, stop.execution)}
                      </span>{" "}
                      {stop.bad ? (
                        <span class={`tag ${harmlessOps.value.has(stop.op) ? "benign" : "bad"}`}>{stop.bad}</span>
                      ) : (
                        <span class="dim">
                          {number(fromWire(stop.min))} … {number(fromWire(stop.max))}
                        </span>
                      )}
                    </span>
                    {stop.file && (
                      <span class="clip">
                        <span class="mono dim">
                          {fileName(stop.file)}:{stop.line}
                        </span>{" "}
                        <code>{stop.source?.trim()}</code>
                      </span>
                    )}
                  </span>
                </a>
              </li>
            );
          })}
          <li class="way-end">
            <span class="dim">{way.end}</span>
          </li>
          {way.inputs.map((input) => {
            const to: Partial<View> =
              input.seq === null ? { ...NOTHING, op: input.op } : { ...NOTHING, seq: input.seq };
            return (
              <li key={`in${input.index}`}>
                <a
                  href={hashOf(to)}
                  onClick={(event) => {
                    event.preventDefault();
                    go(to);
                  }}
                >
                  <span class="arrow" aria-hidden="true">
                    ↑
                  </span>
                  <span class="clip">{input.text}</span>
                </a>
              </li>
            );
          })}
        </ol>
      )}
    </Show>
  );
}
