/** Besides the secret, texts that must never leave the exporter, in the form in which simulator and exporter write them. */
const FORBIDDEN_PATTERNS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['a signature', /\b[0-9a-f]{64}\b/i],
  ['the header of a signature', /xvs-signature|xvs-timestamp/i],
  ['a play address', /\b(?:rtmp|http):\/\/vs-|\/live\/(?:id|sid)\/|vs-\d+\.example\.com/i],
  ['the source of a task', /source\.example\.net/i],
  ['a pass-through string', /room|%7B%22|opaque/i],
];

/** Lists the leaks in some texts, each with the text around it. */
export function findLeaks(texts: Iterable<string>, secret: string): readonly string[] {
  const leaks = new Set<string>();
  for (const text of texts) {
    if (text.includes(secret)) leaks.add('the secret');
    for (const [name, pattern] of FORBIDDEN_PATTERNS) {
      const match = pattern.exec(text);
      if (match === null) continue;
      leaks.add(`${name}: ${text.slice(Math.max(0, match.index - 40), match.index + 60)}`);
    }
  }
  return [...leaks];
}
