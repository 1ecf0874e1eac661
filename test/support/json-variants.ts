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
    choose(4) === 0 ? `"${[...text].map((character) => written(character)).join('')}"` : JSON.stringify(text);

  /** A character as it is, in the short escape that it may have, or in hexadecimal digits of either case. */
  const written = (character: string): string => {
    const way = choose(4);
    if (way === 0) return JSON.stringify(character).slice(1, -1);
    if (way === 1 && character === '/') return '\\/';
    return way === 2 ? escaped(character).toUpperCase().replaceAll('U', 'u') : escaped(character);
  };

  const number = (number_: number): string => {
    const text = JSON.stringify(number_);
    if (!Number.isInteger(number_) || Math.abs(number_) > 1e15 || text === 'null') return text;
    const forms = [text, text, `${text}.0`, `${text}e0`, `${text}E+0`, `${text}.000e-00`];
    // A zero may be negative, and have any exponent; anything else must not begin with one.
    const more = number_ === 0 ? ['-0', '-0.0', '0e99', '0E-999'] : [`${text}0e-1`, `${text}.00E0`];
    const all = [...forms, ...more];
    return all[choose(all.length)] ?? text;
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
