import type { Reply } from '../../api/operations.ts';
import type { objects } from '../../api/objects.ts';

export type Report = Reply<typeof objects.usageReports.generate.endpoint>['usage'];
export type AccountReport = Report['account_usage_summary'][number];
export type UsageLine = AccountReport['usage_summary'][number];

const CATEGORIES: Readonly<Record<string, string>> = {
  data_transfer: 'Transfer',
  objects: 'Objects',
  containers: 'Buckets',
  capacity: 'Capacity',
};

const UNITS: Readonly<Record<string, string>> = { GB: 'GiB', GBMONTH: 'GiB months', count: '' };

/** What a line is about, in words. */
export function nameOf({ category, subcategory }: Pick<UsageLine, 'category' | 'subcategory'>): string {
  const name = CATEGORIES[category] ?? category;
  return subcategory === 'total' ? name : `${name}, ${subcategory}`;
}

export function amountOf({ billed_units: units, unit }: Pick<UsageLine, 'billed_units' | 'unit'>): string {
  const text = units > 0 && units < 0.001 ? 'less than 0.001' : units.toLocaleString('en');
  return `${text} ${UNITS[unit] ?? unit}`.trim();
}

/** As fine as the service counts. */
const DECIMALS = 9;

/** A unit is a column of its own: what stands in a column can be added up. */
const QUANTITIES: readonly (readonly [unit: string, heading: string])[] = [
  ['count', 'Quantity (count)'],
  ['GB', 'Quantity (GiB)'],
  ['GBMONTH', 'Quantity (GiB months)'],
];

/** One line for each account and thing, for a spreadsheet; the same figures that the page shows, not rounded. */
export function reportCsv({ account_usage_summary: accounts, report_header: header }: Report): string {
  const { start_time: from, end_time: to } = header.reporting_interval;
  const columns = [
    ...['Account', 'Account ID', 'From', 'To', 'Category', 'Subcategory'],
    ...QUANTITIES.map(([, heading]) => heading),
    `Charge (${header.billing_unit.toUpperCase()})`,
  ];
  const rows = accounts.flatMap(({ account_header: account, usage_summary: lines }) =>
    lines.map((line) => [
      account.name,
      account.id,
      from,
      to,
      line.category,
      line.subcategory,
      ...QUANTITIES.map(([unit]) => (unit === line.unit ? line.billed_units : '')),
      line.billed_amount,
    ]),
  );
  return [columns, ...rows].map((row) => `${row.map(fieldOf).join(',')}\r\n`).join('');
}

/** Names are users' to choose: one that begins like a formula must not become one in a spreadsheet. */
function fieldOf(value: string | number): string {
  if (typeof value === 'number') return plainDecimal(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Every digit that the service gives, and no exponent: spreadsheets of some languages take `1e-7` for a text. */
function plainDecimal(value: number): string {
  return value.toFixed(DECIMALS).replace(/\.?0+$/, '');
}

/** `2026-11` and a number of months before it, the newest first. */
export function monthsUntil(now: Date, count: number): string[] {
  return Array.from({ length: count }, (_, back) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1));
    return month.toISOString().slice(0, 7);
  });
}
