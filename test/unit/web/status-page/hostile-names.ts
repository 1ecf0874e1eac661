/** Names that attack a page or break its layout. */
export const HOSTILE_NAMES: readonly string[] = [
  '<script>document.title = "owned"</script>',
  '"><img src=x onerror="document.title=\'owned\'">',
  `' onmouseover='document.title="owned"' x='`,
  '</title></style></script><h1>owned</h1>',
  '&lt;b&gt;&amp;&#0;',
  '\u202Edlrow olleh\u2066\u200F',
  'עברית and العربية',
  'W'.repeat(128),
  '👩‍👩‍👧‍👦🏴‍☠️'.repeat(8),
  '../../../-/healthy?x#y',
  '..',
  '100% %2F %zz',
  '${7*7} {{7*7}} `x`',
];
