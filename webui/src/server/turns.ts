// Gives each question its turn, so that what a person waits for comes before the rest.
//
// The table and how many bad values there are come first: while one of those questions is open, no other begins. Then
// the verdict, and behind it what belongs to it. Answers that may take seconds on a large trace are slow: only two at a
// time, for a browser has six connections to a server, one of them is for events, and scrolling never waits for them.

const FIRST = /\/(traces|overview|tensors|groups)(\?|$)/;
const VERDICT = 0;
const SLOW = [/\/verdict(\?|$)/, /\/(lineage|diff)(\?|$)/, /\/alerts(\?|$)/, /\/(loss|gradients)(\?|$)/];
const BEHIND_VERDICT = 2; // this rank, and those after it
const MOST_SLOW = 2;

interface Waiting {
  rank: number; // -1: not slow
  begin: () => void;
}

export class Turns {
  private first = 0;
  private slow: number[] = []; // ranks of those that are open
  private waiting: Waiting[] = [];

  /** Waits until the question may be asked; what it gives is called once that is answered. */
  async of(url: string): Promise<() => void> {
    if (FIRST.test(url)) {
      this.first++;
      return () => {
        this.first--;
        this.next();
      };
    }
    const rank = SLOW.findIndex((one) => one.test(url));
    await new Promise<void>((begin) => {
      this.waiting.push({ rank, begin });
      // Not at once: questions that are asked in the same breath may be of those that come first.
      queueMicrotask(() => this.next());
    });
    return () => {
      if (rank >= 0) this.slow.splice(this.slow.indexOf(rank), 1);
      this.next();
    };
  }

  private next(): void {
    if (this.first > 0) return;
    this.waiting.sort((one, other) => one.rank - other.rank);
    this.waiting = this.waiting.filter(({ rank, begin }) => {
      if (!this.mayBegin(rank)) return true;
      if (rank >= 0) this.slow.push(rank);
      begin();
      return false;
    });
  }

  private mayBegin(rank: number): boolean {
    if (rank < 0) return true;
    return this.slow.length < MOST_SLOW && !(rank >= BEHIND_VERDICT && this.slow.includes(VERDICT));
  }
}
