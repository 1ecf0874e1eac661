/** HTML that is safe to insert into a page. Only {@link html} and {@link trusted} create it. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The values of a template: texts, which are escaped, numbers, markup, and lists; nothing for `false`. */
export type Content = Markup | string | number | false | undefined | readonly Content[];

/**
 * Escapes every value that is no markup. No library's tag, because this one also neutralizes bidirectional
 * control characters, which could disguise names.
 */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  let text = strings[0] ?? '';
  contents.forEach((content, index) => {
    text += renderContent(content) + (strings[index + 1] ?? '');
  });
  return new Markup(text);
}

/** Marks a constant of this program as markup. */
export function trusted(text: string): Markup {
  return new Markup(text);
}

function renderContent(content: Content): string {
  if (content === undefined || content === false) return '';
  if (content instanceof Markup) return content.text;
  if (typeof content === 'number') return String(content);
  if (typeof content === 'string') return escapeText(content);
  return content.map(renderContent).join('');
}

const PLAIN_TEXT = /^[\w .,:;/()+-]*$/;
const HTML_SPECIAL_CHARACTERS = /[&<>"'`]/g;
/** They change the direction of the text after them, so that one name could garble another. */
const BIDI_CONTROLS = /\p{Bidi_Control}/gu;
const CONTROL_CHARACTERS = /[^\P{Cc}\n]/gu;

function escapeText(text: string): string {
  if (PLAIN_TEXT.test(text)) return text;
  return text
    .toWellFormed()
    .replaceAll(CONTROL_CHARACTERS, '\u{FFFD}')
    .replaceAll(BIDI_CONTROLS, formatCodePoint)
    .replaceAll(HTML_SPECIAL_CHARACTERS, (character) => `&#${character.charCodeAt(0)};`);
}

function formatCodePoint(character: string): string {
  const hex = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `[U+${hex}]`;
}

/** A name from outside, isolated so that its text direction does not affect its surroundings. */
export function renderName(text: string): Markup {
  return html`<bdi>${text}</bdi>`;
}
