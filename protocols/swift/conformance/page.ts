import { SECTIONS, type Row } from './table.ts';

const ANSWERS = { served: 'served', refused: '**refused**', different: '**differs**' } as const;

function cells({ operation, what, answer, why, test }: Row): string[] {
  const [file = '', name = ''] = test.split(' › ', 2);
  return [operation, what, ANSWERS[answer] + (why === undefined ? '' : `: ${why}`), `${file}: ${name}`].map((cell) =>
    cell
      .replaceAll('|', '\\|')
      .replaceAll('*,', '\\*,')
      .replaceAll(/(?<=-)\*$/g, '\\*'),
  );
}

/** In columns of even width, as prettier writes them. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)];
}

/** `docs/swift-conformance.md`. */
export function conformancePage(): string {
  const lines = [
    '# Swift conformance',
    '',
    'What of the OpenStack Object Storage API is served, what is refused and why. Each row names the test that shows it, below',
    '`protocols/swift`. Written by `node protocols/swift/conformance/main.ts`; do not edit.',
  ];
  for (const { title, rows } of SECTIONS) {
    lines.push('', `## ${title}`, '', ...table(['Operation', 'What', 'Answer', 'Test'], rows.map(cells)));
  }
  return `${lines.join('\n')}\n`;
}
