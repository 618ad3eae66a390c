// Shows the help sheet: all keys, what the colours mean, the words of filters.

import { useLayoutEffect, useRef } from "preact/hooks";
import { KEYS, LOCAL_KEYS, opened } from "./keys";

const COLOURS = [
  ["nan", "NaN", "not a number"],
  ["inf", "∞", "infinite, with its sign"],
  ["zero", "0", "exactly zero"],
  ["negative", "−", "finite and negative"],
  ["positive", "+", "finite and positive"],
  ["benign", "○", "harmless NaN or infinity, such as a mask"],
] as const;

const FILTERS = [
  ["bad", "holds a NaN or an infinity"],
  ['op == "Log" and zero > 0', "the op's type; how many zeros"],
  ['name ~ "dense.*"', "the op's name, as a regular expression"],
  ["max_abs > 1e4 or std == 0", "the numbers: min max mean std max_abs elements negative zero positive nan inf"],
  ['step in 10:20 and phase == "backward"', "where in the run"],
] as const;

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class="sheet"
      aria-label="Keys and colours"
      onClose={() => (opened.value = "")}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <header>
        <h2>Keys</h2>
        <button autofocus onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      <div class="sheet-columns">
        <dl class="keys">
          {KEYS.map((key) => (
            <div key={key.keys[0]}>
              <dt>
                {key.keys.map((one) => (
                  <kbd key={one}>{one}</kbd>
                ))}
              </dt>
              <dd>{key.meaning}</dd>
            </div>
          ))}
        </dl>
        <div>
          <h3>Where the focus is</h3>
          <dl class="keys wide">
            {LOCAL_KEYS.map(([where, keys]) => (
              <div key={where}>
                <dt>{where}</dt>
                <dd>{keys}</dd>
              </div>
            ))}
          </dl>
          <h3>Colours and signs</h3>
          <dl class="keys">
            {COLOURS.map(([name, sign, meaning]) => (
              <div key={name}>
                <dt>
                  <span class={`tag ${name}`}>{sign}</span>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
          <h3>Filters</h3>
          <dl class="keys wide">
            {FILTERS.map(([text, meaning]) => (
              <div key={text}>
                <dt>
                  <code>{text}</code>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </div>
      </div>
    </dialog>
  );
}
