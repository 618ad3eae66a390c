// The whole page: verdict on top, alerts and layers on the left, the run in the middle, what is chosen on the right.

import { AlertList } from "./alerts";
import { Console } from "./console";
import { DiffPane } from "./diff";
import { Executions } from "./executions";
import { traces } from "./focus";
import { GradientFlow } from "./gradients";
import { Help } from "./help";
import { HistoryPlot } from "./history";
import { opened } from "./keys";
import { Layers } from "./layers";
import { LineagePane } from "./lineage";
import { Palette } from "./palette";
import { Empty, Failure, Pane, Splitter } from "./panes";
import { sizes } from "./settings";
import { FileChoice, Source } from "./source";
import { StackTrace } from "./stack";
import { Structure } from "./structure";
import { TensorTable } from "./table";
import { TensorPane } from "./tensor";
import { Steps } from "./timeline";
import { Top } from "./top";
import { VerdictBar } from "./verdict";
import { go, viewed } from "./view";

export function App() {
  const list = traces.value;
  const entry = list.data?.find((one) => one.id === viewed.trace.value);
  return (
    <div class="app">
      <Top />
      {list.error ? (
        <Failure error={list.error} />
      ) : list.data?.length === 0 ? (
        <NoTrace />
      ) : list.data && viewed.trace.value && !entry ? (
        <NotServed />
      ) : entry?.error ? (
        <Unreadable reason={entry.error} />
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
      <p>The link may be of another server, or the trace was removed. Choose one above.</p>
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
        Record a program, without changing it: <code>tdbg run train.py</code>. Then <code>tdbg serve</code> in the same
        folder shows it, while it still trains or afterwards.
      </p>
      <p>
        To see what a broken program looks like: <code>tdbg demo</code>.
      </p>
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
      <p>Choose another one above.</p>
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
        <div class="column" data-pane="left" style={width("left", 200)}>
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
