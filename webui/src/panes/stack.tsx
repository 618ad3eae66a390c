// Shows the stack of what is chosen: the user's frames first to the eye, library frames folded into one line.

import { PaneBox } from "../parts/pane_box";
import { about, ofPlace } from "../parts/same_subject";
import { Empty } from "../parts/show";
import type { Frame } from "../server/answers";
import { execution, op, place, stack, tensor } from "../state/chosen";
import { showsLibraries } from "../state/settings";
import { go, hashOf, viewed } from "../state/view";
import { count, fileName } from "../words/format";
import type { PaneInColumn } from "./about";

export const stackPane: PaneInColumn = {
  id: "stack",
  title: "Stack trace",
  word: "stack",
  place: "right",
  weight: 2,
  shows: StackTrace,
};

type Part = { frame: Frame } | { hidden: Frame[] };

/** Makes one part of each run of library frames. */
function foldLibraries(frames: readonly Frame[]): Part[] {
  const parts: Part[] = [];
  for (const frame of frames) {
    const last = parts.at(-1);
    if (frame.is_user) parts.push({ frame });
    else if (last && "hidden" in last) last.hidden.push(frame);
    else parts.push({ hidden: [frame] });
  }
  return parts;
}

function StackTrace() {
  const frames = stack.value;
  const users = frames.filter((frame) => frame.is_user).length;
  const shows = showsLibraries.value;
  const parts: Part[] = shows ? frames.map((frame) => ({ frame })) : foldLibraries(frames);
  const isNothing = viewed.seq.value === null && viewed.op.value === null && viewed.execution.value === null;
  return (
    <PaneBox
      box={stackPane}
      count={frames.length ? `${count(users)} of yours` : ""}
      actions={
        frames.length > users ? (
          <button aria-pressed={shows} onClick={() => (showsLibraries.value = !shows)}>
            library frames
          </button>
        ) : null
      }
    >
      {frames.length === 0 ? (
        <Empty>
          {isNothing
            ? "Choose a tensor, an op or an execution to see the code that created it, innermost line first."
            : tensor.value.isLoading || op.value.isLoading || execution.value.isLoading
              ? "loading …"
              : "No stack was kept for this one. Imported dumps may lack them."}
        </Empty>
      ) : (
        <ol class="list frames" aria-label="Frames, innermost first">
          {parts.map((part, at) => (
            <li key={at}>
              {"frame" in part ? (
                <FrameLink frame={part.frame} />
              ) : (
                <button
                  class="dim"
                  title={part.hidden.map((one) => `${one.file}:${one.line} ${one.function}`).join("\n")}
                  onClick={() => (showsLibraries.value = true)}
                >
                  ⋯ {count(part.hidden.length)} library frame{part.hidden.length > 1 ? "s" : ""}
                </button>
              )}
            </li>
          ))}
        </ol>
      )}
    </PaneBox>
  );
}

function FrameLink({ frame }: { frame: Frame }) {
  const to = { file: frame.file, line: frame.line, centre: "source" };
  const isShown = place.value.file === frame.file && place.value.line === frame.line;
  return (
    <a
      href={hashOf(to)}
      aria-current={isShown}
      {...about([ofPlace(frame.file, frame.line)])}
      class={frame.is_user ? "mine" : "dim"}
      title={`${frame.file}:${frame.line}`}
      onClick={(event) => {
        event.preventDefault();
        go(to);
      }}
    >
      <span class="arrow" aria-hidden="true">
        {isShown ? "→" : ""}
      </span>
      <span class="two">
        <span class="clip">
          <span class="mono">
            {fileName(frame.file)}:{frame.line}
          </span>{" "}
          <span class="dim">{frame.function}</span>
        </span>
        {frame.source && <code class="clip">{frame.source.trim()}</code>}
      </span>
    </a>
  );
}
