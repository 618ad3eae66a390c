// Writes numbers and names as short texts for people.

const INTEGER = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** 1,216 */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined || Number.isNaN(value) ? "–" : INTEGER.format(value);
}

/** Writes a number with at most five significant digits, as a person would: 0, 0.5, -12.346, 3.2e-7, NaN, ∞. */
export function number(value: number | string | boolean | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) {
    return minus(
      value
        .toExponential(3)
        .replace(/\.?0+e/, "e")
        .replace("e+", "e"),
    );
  }
  if (Number.isInteger(value)) return minus(INTEGER.format(value));
  return minus(String(Number(value.toPrecision(5))));
}

/** Writes a number in at most nine letters, for columns. */
export function brief(value: number): string {
  const text = number(Number.isFinite(value) ? Number(value.toPrecision(4)) : value);
  return text.length <= 8
    ? text
    : minus(
        value
          .toExponential(2)
          .replace(/\.?0+e/, "e")
          .replace("e+", "e"),
      );
}

function minus(text: string): string {
  return text.replaceAll("-", "−");
}

/** Reads a number of the server, which writes those that JSON does not have as texts. */
export function fromWire(value: unknown): number | null {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return null;
  const word = value.toLowerCase().replace("+", "");
  if (word === "nan") return NaN;
  if (word === "inf" || word === "infinity") return Infinity;
  return word === "-inf" || word === "-infinity" ? -Infinity : null;
}

export function bytes(value: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let at = 0;
  for (; value >= 1000 && at < units.length - 1; at++) value /= 1000;
  return `${at === 0 || value >= 100 ? Math.round(value) : Number(value.toPrecision(2))} ${units[at]}`;
}

export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value < 1e-3) return `${Math.round(value * 1e6)} µs`;
  if (value < 1) return `${Number((value * 1e3).toPrecision(3))} ms`;
  if (value < 60) return `${Number(value.toPrecision(3))} s`;
  if (value < 3600) return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
  return `${Math.floor(value / 3600)} h ${Math.round((value % 3600) / 60)} min`;
}

/** 128×10; a scalar says so. */
export function shape(dims: readonly number[] | null | undefined): string {
  if (!dims) return "?";
  return dims.length === 0 ? "scalar" : dims.map((dim) => (dim < 0 ? "?" : String(dim))).join("×");
}

/** "from −1 to 3.2e7", of two numbers of the server. */
export function fromTo(low: unknown, high: unknown): string {
  return `from ${number(fromWire(low))} to ${number(fromWire(high))}`;
}

/** The name of a trace's folder without its ending. */
export function traceName(folder: string): string {
  return folder.replace(/\.tdbg$/, "");
}

/** The name of a function that was called, without what TensorFlow puts before it. */
export function functionName(label: string): string {
  return label.replace(/^__(inference|forward|backward)_/, "");
}

export function fileName(path: string): string {
  return path.slice(path.replaceAll("\\", "/").lastIndexOf("/") + 1);
}

export function plural(value: number, word: string): string {
  return `${count(value)} ${word}${value === 1 ? "" : "s"}`;
}

/** The name of a health rule, for people. */
export function inWords(rule: string): string {
  return rule.replaceAll("_", " ");
}
