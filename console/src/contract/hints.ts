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
  const rest =
    said.startsWith(`${known} (`) && said.endsWith(')')
      ? description.slice(-(said.length - known.length - 2), -1)
      : undefined;
  return rest === undefined ? description : `${rest.charAt(0).toUpperCase()}${rest.slice(1)}`;
}
