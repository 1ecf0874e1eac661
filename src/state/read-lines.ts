const LINE_FEED = 0x0a;

/** A line of a file, without its line feed, which is the byte before `end`. */
export interface Line {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Yields the complete lines of a file. `node:readline` is unsuitable: it also splits at U+2028. */
export function* readLines(content: Buffer): Generator<Line, void> {
  let start = 0;
  for (;;) {
    const end = content.indexOf(LINE_FEED, start) + 1;
    if (end === 0) return;
    yield { text: content.toString('utf8', start, end - 1), start, end };
    start = end;
  }
}
