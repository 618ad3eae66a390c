// Says where numbers lie on an axis, and which round ones to write there.

interface Scale {
  (value: number): number;
  ticks: number[];
}

/** Round numbers inside a range: steps of 1, 2 or 5 times a power of ten. */
export function roundTicks(low: number, high: number, most: number): number[] {
  if (!(high > low) || most < 1) return Number.isFinite(low) ? [low] : [];
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const width = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough)!;
  const found = [];
  for (let at = Math.ceil(low / width); at * width <= high * (1 + 1e-12); at++)
    found.push(Number((at * width).toPrecision(12)));
  return found;
}

export function scale(low: number, high: number, from: number, to: number, most: number): Scale {
  if (!(high > low)) [low, high] = [low - 0.5, low + 0.5];
  const place = (value: number) => from + ((value - low) / (high - low)) * (to - from);
  return Object.assign(place, { ticks: roundTicks(low, high, most) });
}

/** Powers of ten; for numbers above 0 that span several of them. */
export function logScale(low: number, high: number, from: number, to: number, most: number): Scale {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const end = last > first ? last : first + 1;
  const place = (value: number) => from + ((Math.log10(value) - first) / (end - first)) * (to - from);
  const every = Math.max(1, Math.ceil((end - first) / most));
  const ticks = [];
  for (let power = first; power <= end; power += every) ticks.push(10 ** power);
  return Object.assign(place, { ticks });
}
