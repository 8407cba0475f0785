import { plainText } from '../output/cells.ts';
import { drawRows } from '../output/table.ts';
import { capacityText } from '../output/units.ts';
import type { ArrayReport, Finding, StatusReport } from './report.ts';

const HEADINGS: readonly (readonly [Finding['kind'], string])[] = [
  ['failing', 'Failing'],
  ['full', 'Full'],
  ['waiting', 'Waiting'],
  ['underway', 'Under way'],
];

/** One screen: what is up, then what is failing, full, waiting and under way. */
export function statusText({ portal, arraysByState, requestsPending, arrays, findings }: StatusReport): string {
  const counts = Object.entries(arraysByState).map(([state, count]) => `${count} ${stateText(state)}`);
  const lines = [
    `Portal    ${portal}`,
    `Arrays    ${counts.join(', ') || 'none'}`,
    `Requests  ${requestsPending === 0 ? 'none waiting' : `${requestsPending} waiting`}`,
  ];
  if (arrays.length > 0) lines.push('', tableOf(arrays));
  for (const [kind, heading] of HEADINGS) {
    const found = findings.filter((finding) => finding.kind === kind);
    if (found.length > 0) lines.push('', `${heading}:`);
    for (const { array, what } of found) lines.push(`  ${plainText(array === undefined ? what : `${array}: ${what}`)}`);
  }
  return lines.join('\n');
}

/** `created` says how an array came to be; that it serves is what is asked here. */
function stateText(state: string): string {
  return state === 'created' ? 'up' : state;
}

function tableOf(arrays: readonly ArrayReport[]): string {
  const rows = arrays.map(({ name, kind, status, used, capacity, drives, note }) =>
    [
      name,
      kind,
      stateText(status),
      used === undefined ? '' : capacityText(used, 'GiB'),
      capacity === undefined ? '' : capacityText(capacity, 'GiB'),
      drives === undefined ? '' : String(drives),
      note ?? '',
    ].map(plainText),
  );
  const titles = ['array', 'kind', 'state', 'used', 'size', 'drives', 'note'];
  return drawRows({ titles, rows }, { width: undefined, boxes: false, colour: false }).text;
}
