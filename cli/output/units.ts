import { cellText } from './cells.ts';
import { withoutNull, type Schema } from './shape.ts';

/** Units of 1024, as every capacity of Granary counts. */
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;
type Unit = (typeof UNITS)[number];

const BY_SUFFIX: Readonly<Record<string, Unit>> = { bytes: 'B', kb: 'KiB', mb: 'MiB', gb: 'GiB' };
/** The contract's own names of units begin the description of a field that is counted in them. */
const BY_DESCRIPTION: Readonly<Record<string, Unit>> = { Bytes: 'B', KB: 'KiB', MB: 'MiB', GB: 'GiB' };

/** The unit a field of a record is counted in, by its name or its description; undefined for what is no capacity. */
export function unitOf(field: string, schema: Schema = {}): Unit | undefined {
  const { type, description = '' } = { ...schema, ...withoutNull(schema) };
  if (type !== 'integer' && type !== 'number') return undefined;
  const [, suffix = ''] = /_(bytes|kb|mb|gb)$/.exec(field) ?? [];
  const [, word = ''] = /^(?:Whole )?(Bytes|KB|MB|GB)\b/.exec(description) ?? [];
  return BY_SUFFIX[suffix] ?? BY_DESCRIPTION[word];
}

/** `5 GiB`, `1.5 TiB`, `512 MiB`: in the largest unit that is not below one, cut to two decimals: no more is shown than there is. */
export function capacityText(amount: number, unit: Unit): string {
  let at = UNITS.indexOf(unit);
  let shown = amount;
  while (shown >= 1024 && at < UNITS.length - 1) [shown, at] = [shown / 1024, at + 1];
  while (shown > 0 && shown < 1 && at > 0) [shown, at] = [shown * 1024, at - 1];
  return `${Math.trunc(Number((shown * 100).toPrecision(12))) / 100} ${UNITS[at]}`;
}

/** A value of a record in words: capacities with their unit, times alike whatever form the field has. */
export function fieldText(field: string, schema: Schema = {}, value: unknown): string {
  const unit = typeof value === 'number' ? unitOf(field, schema) : undefined;
  if (unit !== undefined) return capacityText(value as number, unit) + (isRate(schema) ? '/s' : '');
  return timeText(schema, value) ?? cellText(value);
}

function isRate({ description = '' }: Schema): boolean {
  return / a second\b/.test(description);
}

function timeText(schema: Schema, value: unknown): string | undefined {
  const { format, description = '' } = { ...schema, ...withoutNull(schema) };
  if (/\bseconds since 1970\b/i.test(description) && /^[1-9]\d{0,10}(\.\d+)?$/.test(String(value)))
    return `${new Date(Number(value) * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  if (format !== 'iso' || typeof value !== 'string') return undefined;
  return value.replace(/^(\d{4}-\d\d-\d\d)T([\d:]+)\+0000$/, '$1 $2 UTC');
}
