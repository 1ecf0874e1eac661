/** A piece of HTML that is safe to put into a page. Only {@link html} and {@link trusted} make one. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a template takes: texts, which are escaped, numbers, pieces of HTML, and lists of them. */
export type Content = Markup | string | number | undefined | readonly Content[];

/** A piece of HTML: whatever is put into the template is escaped, unless it is such a piece itself. */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  let text = strings[0] ?? '';
  contents.forEach((content, index) => {
    text += textOf(content) + (strings[index + 1] ?? '');
  });
  return new Markup(text);
}

/** HTML of the program's own. */
export function trusted(text: string): Markup {
  return new Markup(text);
}

function textOf(content: Content): string {
  if (content === undefined) return '';
  if (content instanceof Markup) return content.text;
  if (typeof content === 'number') return String(content);
  if (typeof content === 'string') return escapeText(content);
  return content.map(textOf).join('');
}

const IS_PLAIN = /^[\w .,:;/()+-]*$/;
const SPECIAL = /[&<>"'`]/g;
/** They turn the direction of the text that follows, and what one name holds could garble another. */
const DIRECTIONS = /\p{Bidi_Control}/gu;
const CONTROLS = /[^\P{Cc}\n]/gu;

function escapeText(text: string): string {
  if (IS_PLAIN.test(text)) return text;
  return text
    .toWellFormed()
    .replaceAll(CONTROLS, '\u{FFFD}')
    .replaceAll(DIRECTIONS, nameOfCharacter)
    .replaceAll(SPECIAL, (character) => `&#${character.charCodeAt(0)};`);
}

function nameOfCharacter(character: string): string {
  const hex = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `[U+${hex}]`;
}

/** A name that somebody else gave: it is kept apart from the text around it, whatever its direction. */
export function name(text: string): Markup {
  return html`<bdi>${text}</bdi>`;
}
