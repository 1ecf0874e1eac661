const WHITE_SPACE = ['', '', '', ' ', '\n', '\t', '\r\n  ', `\n${' '.repeat(15)}`, `${'\t'.repeat(33)}\r`];

/**
 * Writes a value as unusual but valid JSON: white space anywhere, needless escapes, numbers in other forms,
 * members in any order.
 */
export function writeJsonVariant(value: unknown, choices: Iterator<number>): string {
  const choose = (count: number): number => (choices.next().value ?? 0) % count;
  const space = (): string => WHITE_SPACE[choose(WHITE_SPACE.length)] ?? '';
  const shuffle = <T>(items: readonly T[]): T[] =>
    items
      .map((item) => ({ item, order: choose(97) }))
      .toSorted((a, b) => a.order - b.order)
      .map(({ item }) => item);

  const writeString = (text: string): string =>
    choose(4) === 0
      ? `"${[...text].map((character) => writeCharacter(character)).join('')}"`
      : JSON.stringify(text);

  /** Writes a character plainly, with its short escape, or as \u with hexadecimal digits of either case. */
  const writeCharacter = (character: string): string => {
    const form = choose(4);
    if (form === 0) return JSON.stringify(character).slice(1, -1);
    if (form === 1 && character === '/') return '\\/';
    return form === 2
      ? escapeUnicode(character).toUpperCase().replaceAll('U', 'u')
      : escapeUnicode(character);
  };

  const writeNumber = (numberValue: number): string => {
    const text = JSON.stringify(numberValue);
    if (!Number.isInteger(numberValue) || Math.abs(numberValue) > 1e15 || text === 'null') return text;
    const forms = [text, text, `${text}.0`, `${text}e0`, `${text}E+0`, `${text}.000e-00`];
    // Zero may have a sign and any exponent.
    const otherForms = numberValue === 0 ? ['-0', '-0.0', '0e99', '0E-999'] : [`${text}0e-1`, `${text}.00E0`];
    const all = [...forms, ...otherForms];
    return all[choose(all.length)] ?? text;
  };

  const write = (item: unknown): string => {
    if (typeof item === 'string') return space() + writeString(item) + space();
    if (typeof item === 'number') return space() + writeNumber(item) + space();
    if (Array.isArray(item)) return `${space()}[${item.map(write).join(',') || space()}]${space()}`;
    if (typeof item === 'object' && item !== null) {
      const members = shuffle(Object.entries(item)).filter(([, member]) => member !== undefined);
      const texts = members.map(
        ([key, member]) => `${space()}${writeString(key)}${space()}:${write(member)}`,
      );
      return `${space()}{${texts.join(',') || space()}}${space()}`;
    }
    return space() + JSON.stringify(item ?? null) + space();
  };
  return write(value);
}

function escapeUnicode(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
