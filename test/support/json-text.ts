const WHITE_SPACE = ['', '', '', ' ', '\n', '\t', '\r\n  '];

/**
 * JSON text of a value as an odd but honest writer would put it: white space anywhere, escapes where none are
 * needed, numbers in other forms, members in any order.
 */
export function jsonTextOf(value: unknown, choices: Iterator<number>): string {
  const choose = (count: number): number => (choices.next().value ?? 0) % count;
  const space = (): string => WHITE_SPACE[choose(WHITE_SPACE.length)] ?? '';
  const shuffled = <T>(items: readonly T[]): T[] =>
    items
      .map((item) => ({ item, order: choose(97) }))
      .toSorted((a, b) => a.order - b.order)
      .map(({ item }) => item);

  const string = (text: string): string =>
    choose(4) === 0 ? `"${[...text].map((character) => escaped(character)).join('')}"` : JSON.stringify(text);

  const number = (number_: number): string => {
    const text = JSON.stringify(number_);
    if (!Number.isInteger(number_) || Math.abs(number_) > 1e15 || text === 'null') return text;
    return [text, text, `${text}.0`, `${text}e0`, `${text}E+0`][choose(5)] ?? text;
  };

  const write = (item: unknown): string => {
    if (typeof item === 'string') return space() + string(item) + space();
    if (typeof item === 'number') return space() + number(item) + space();
    if (Array.isArray(item)) return `${space()}[${item.map(write).join(',') || space()}]${space()}`;
    if (typeof item === 'object' && item !== null) {
      const members = shuffled(Object.entries(item)).filter(([, member]) => member !== undefined);
      const texts = members.map(([key, member]) => `${space()}${string(key)}${space()}:${write(member)}`);
      return `${space()}{${texts.join(',') || space()}}${space()}`;
    }
    return space() + JSON.stringify(item ?? null) + space();
  };
  return write(value);
}

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
