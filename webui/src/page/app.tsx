// The whole page: verdict on top, alerts and layers on the left, the run in the middle, what is chosen on the right.

import { AlertList } from "../panes/alerts";
import { contact } from "../server/api";
import { Console } from "../panes/shell";
import { DiffPane } from "../panes/compare";
import { Executions } from "../panes/executions";
import { traces } from "../state/chosen";
import { GradientFlow } from "../panes/gradients";
import { Help } from "./help";
import { HistoryPlot } from "../panes/history";
import { opened } from "./keys";
import { Layers } from "../panes/layers";
import { LineagePane } from "../panes/lineage";
import { Palette } from "./palette";
import { Empty, Failure, Pane, Splitter } from "../parts/pane";
import { sizes } from "../state/settings";
import { FileChoice, Source } from "../panes/source";
import { StackTrace } from "../panes/stack";
import { Structure } from "../panes/structure";
import { TensorTable } from "../panes/tensors";
import { TensorPane } from "../panes/tensor/tensor";
import { Steps } from "../panes/steps";
import { Top } from "./top_bar";
import { VerdictBar } from "../verdict/verdict_bar";
import { go, viewed } from "../state/view";

export function App() {
  const list = traces.value;
  const entry = list.data?.find((one) => one.id === viewed.trace.value);
  return (
    <div class="app">
      <Top />
      <Contact />
      {list.error && !list.data ? (
        <Failure error={list.error} />
      ) : list.data?.length === 0 ? (
        <NoTrace />
      ) : list.data && viewed.trace.value && !entry ? (
        <NotServed />
      ) : entry?.error ? (
        <Unreadable reason={entry.error} />
      ) : entry?.is_starting ? (
        <Starting />
      ) : (
        <Panes />
      )}
      {opened.value === "help" && <Help />}
      {opened.value === "palette" && <Palette />}
    </div>
  );
}

function NotServed() {
  return (
    <Empty>
      <p>
        <b>There is no trace {viewed.trace.value} here.</b>
      </p>
      <p>The link may belong to another server, or the trace was removed. Choose another above.</p>
    </Empty>
  );
}

function NoTrace() {
  return (
    <Empty>
      <p>
        <b>There is no trace here yet.</b>
      </p>
      <p>
        Record a program, without changing it: <code>tdbg run train.py</code> in the folder being served. It appears
        here while it is still training.
      </p>
      <p>
        To see what tdbg says about a broken program: <code>tdbg demo</code>.
      </p>
    </Empty>
  );
}

/** The page keeps what it has, and goes on when the server is there again. */
function Contact() {
  if (!contact.value) return null;
  return (
    <div class="contact" role="alert">
      {contact.value === "gone" ? (
        <>
          <b>The server does not answer.</b> This page stays as it is. Start <code>tdbg serve</code> again on the same port,
          and the page reconnects by itself.
        </>
      ) : (
        <>
          <b>The server no longer knows this page.</b> Open the address that <code>tdbg serve</code> printed.
        </>
      )}
    </div>
  );
}

function Starting() {
  return (
    <Empty>
      <p>
        <b>This run is just starting.</b>
      </p>
      <p>It appears as soon as something is recorded.</p>
    </Empty>
  );
}

function Unreadable({ reason }: { reason: string }) {
  return (
    <Empty>
      <p>
        <b>This trace cannot be read.</b>
      </p>
      <p>{reason}</p>
      <p>Choose another above.</p>
    </Empty>
  );
}

function width(id: string, start: number) {
  return { flex: `${sizes.value[id] ?? start} 1 0` };
}

function Panes() {
  return (
    <>
      <VerdictBar />
      <main class="columns">
        <div class="column" data-pane="left" style={width("left", 240)}>
          <AlertList />
          <Splitter before="alerts" after="layers" />
          <Layers />
        </div>
        <Splitter before="left" after="middle" isUpright />
        <div class="column" data-pane="middle" style={width("middle", 725)}>
          <Steps />
          <Executions />
          <TensorTable />
          <Splitter before="tensors" after="centre" />
          <Centre />
        </div>
        <Splitter before="middle" after="right" isUpright />
        <div class="column" data-pane="right" style={width("right", 345)}>
          <StackTrace />
          <Splitter before="stack" after="structure" />
          <Structure />
          <Splitter before="structure" after="side" />
          <Side />
        </div>
      </main>
    </>
  );
}

const CENTRE = [
  { id: "source", title: "Source" },
  { id: "gradients", title: "Gradients" },
  { id: "diff", title: "Compare" },
  { id: "shell", title: "Shell" },
];
const SIDE = [
  { id: "tensor", title: "Tensor" },
  { id: "history", title: "History" },
  { id: "lineage", title: "Lineage" },
];

function Centre() {
  const tab = viewed.centre.value;
  return (
    <Pane
      id="centre"
      title="Source, gradients, comparison, shell"
      tabs={CENTRE}
      tab={tab}
      onTab={(id) => go({ centre: id }, true)}
      weight={3}
      actions={tab === "source" ? <FileChoice /> : null}
    >
      {tab === "source" && <Source />}
      {tab === "gradients" && <GradientFlow />}
      {tab === "diff" && <DiffPane />}
      {tab === "shell" && <Console />}
    </Pane>
  );
}

function Side() {
  const tab = viewed.side.value;
  return (
    <Pane
      id="side"
      title="Tensor, history, lineage"
      tabs={SIDE}
      tab={tab}
      onTab={(id) => go({ side: id }, true)}
      weight={3}
    >
      {tab === "tensor" && <TensorPane />}
      {tab === "history" && <HistoryPlot />}
      {tab === "lineage" && <LineagePane />}
    </Pane>
  );
}
