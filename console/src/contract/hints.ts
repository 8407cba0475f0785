/** What holds where nothing is chosen: `Compress; as the array has it when left out` is `As the array has it`. */
export function leftOutWords(description: string): string {
  const [, said] = /; ([^;]+?),? when left out/.exec(description) ?? [];
  return said === undefined ? 'As it is' : said.charAt(0).toUpperCase() + said.slice(1);
}

/** What the label does not say already: `Size (500G or 2T)` beside Size is `500G or 2T`. */
export function hintOf(description: string, label: string): string {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/^(?:its|the|a|an|whether) /, '')
      .replaceAll(',', '')
      .replaceAll('-', ' ');
  const [said, known] = [plain(description), plain(label)];
  const more = said.startsWith(known) ? said.slice(known.length) : undefined;
  if (more !== undefined && /^(?: shown to users| (?:of|on) the \w+)?$/.test(more)) return '';
  // Of the description itself: what is compared has lost its commas and its article.
  const rest =
    said.startsWith(`${known} (`) && said.endsWith(')')
      ? description.slice(description.indexOf('(') + 1, -1)
      : undefined;
  return rest === undefined ? description : `${rest.charAt(0).toUpperCase()}${rest.slice(1)}`;
}
