/** Edits (insert, delete, replace) that turn one text into the other (Levenshtein, two rows). */
function distance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}

/** `did you mean …?`, when one of the known names is about a third of its letters or less away. */
export function nearestHint(name: string, known: readonly string[]): string | undefined {
  const candidates = known
    .map((candidate) => ({ candidate, edits: distance(name.toLowerCase(), candidate) }))
    .filter(({ candidate, edits }) => edits <= Math.max(1, Math.floor(candidate.length / 3)))
    .toSorted((a, b) => a.edits - b.edits);
  return candidates[0] === undefined ? undefined : `did you mean ${candidates[0].candidate}?`;
}
