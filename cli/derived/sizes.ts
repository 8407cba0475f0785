import type { Endpoint } from '@granary/contract';
import { optionFlag } from '../names.ts';
import { capacityText } from '../output/units.ts';
import { mebibytesOf } from './values.ts';

/** What each size was taken as, where it does not say so itself: `5`, `5G` and `5GB` are all 5 GiB. */
export function sizeNotes({ params }: Endpoint, input: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(params).flatMap(([name, { kind }]) => {
    const text = input[name];
    if (kind !== 'capacity' || typeof text !== 'string' || /iB$/i.test(text)) return [];
    const mebibytes = mebibytesOf(text);
    if (mebibytes === undefined) return [];
    const bytes = (mebibytes * 2 ** 20).toLocaleString('en');
    return [`${optionFlag(name)} ${text} is taken as ${capacityText(mebibytes, 'MiB')} (${bytes} bytes).`];
  });
}
