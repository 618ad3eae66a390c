// Shows the user's line as a link to where it is.

import { go, hashOf, viewed, type View } from "../state/view";
import { fileName } from "../words/format";
import { underlined } from "../words/underline";

export function follow(to: Partial<View>) {
  return (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    const isChosen = to.seq !== undefined && to.seq !== null && to.seq === viewed.seq.value;
    go(to);
    // Whoever scrolled away from what is chosen already is led back to it.
    if (isChosen) document.dispatchEvent(new CustomEvent("tdbg-event", { detail: to.seq }));
  };
}

/** The user's line; the call that made the op is underlined where it can be told. */
export function SourceLine({
  file,
  line,
  source,
  mark,
  to,
}: {
  file: string | null;
  line: number | null;
  source: string;
  mark?: string;
  to: Partial<View>;
}) {
  const text = source.replace(/\n[\s\S]*/, " …").trim();
  const [from, end] = mark ? underlined(text, mark) : [0, 0];
  return (
    <div class="code">
      <a href={hashOf(to)} onClick={follow(to)}>
        {file ? `${fileName(file)}:${line}` : "source"}
      </a>
      {"  "}
      {text.slice(0, from)}
      <u>{text.slice(from, end)}</u>
      {text.slice(end)}
    </div>
  );
}
