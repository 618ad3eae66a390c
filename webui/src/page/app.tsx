// Puts the whole page together: the verdict on top, below it all panes in their columns.

import { Empty, Failure } from "../parts/show";
import { contact } from "../server/api";
import { traces } from "../state/chosen";
import { viewed } from "../state/view";
import { VerdictBar } from "../verdict/verdict_bar";
import { Help } from "./help";
import { opened } from "./keys";
import { Columns } from "./layout";
import { Palette } from "./palette";
import { Top } from "./top_bar";

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
        <>
          <VerdictBar />
          <Columns />
        </>
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
          <b>The server does not answer.</b> This page stays as it is. Start <code>tdbg serve</code> again on the same
          port, and the page reconnects by itself.
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
