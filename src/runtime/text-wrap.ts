/** Wraps text at spaces into lines of at most `width` characters. A longer word has a line of its own. */
export function wrapText(text: string, width: number): readonly string[] {
  const line = new RegExp(String.raw`\S.{0,${width - 1}}(?!\S)|\S+`, 'gs');
  return text.match(line) ?? [];
}
