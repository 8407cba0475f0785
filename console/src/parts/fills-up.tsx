import { Text } from '@mantine/core';
import type { ForecastRecord } from '@granary/contract';
import type { ReactNode } from 'react';
import { bytes, count, localDay } from './format.ts';
import { Fill } from './small.tsx';
import { DataTable, type Column } from './table.tsx';

const DAY_MS = 86_400_000;
const GB = 2 ** 30;
const FAR_DAYS = 3_650;
const KINDS: Readonly<Record<string, string>> = {
  pool: 'Pool',
  volume: 'Volume or share',
  policy: 'Storage policy',
  array: 'Array',
};

type Link = (forecast: ForecastRecord) => ReactNode;

/** When things will be full, the first one first; `link` leads to one of them. */
export function FillsUpFirst(props: {
  readonly forecasts: readonly ForecastRecord[];
  readonly link: Link;
  readonly empty: ReactNode;
  /** The first few, within a page. */
  readonly isShort?: boolean;
}) {
  return (
    <DataTable
      label="What fills up first"
      rows={props.forecasts}
      columns={columnsWith(props.link)}
      rowKey={({ kind, id }) => `${kind} ${id}`}
      empty={props.empty}
      prefix="fill"
      isShort={props.isShort === true}
    />
  );
}

function columnsWith(link: Link): Column<ForecastRecord>[] {
  return [
    {
      name: 'name',
      heading: 'Name',
      isLong: true,
      value: ({ name }) => name,
      cell: (forecast) => (
        <>
          {link(forecast)}
          <Text size="xs" c="dimmed">
            {KINDS[forecast.kind] ?? forecast.kind}
          </Text>
        </>
      ),
    },
    {
      name: 'full',
      heading: 'Full in',
      value: ({ days_likely: days }) => days ?? Infinity,
      cell: (forecast) => <FullIn forecast={forecast} />,
    },
    {
      name: 'used',
      heading: 'Used',
      value: ({ used_bytes: used, capacity_bytes: capacity }) => used / Math.max(1, capacity),
      cell: ({ used_bytes: used, capacity_bytes: capacity }) => <Fill used={used / GB} size={capacity / GB} />,
      isExtra: true,
    },
    growth('day', 'Day', ({ growth_day }) => growth_day),
    growth('week', 'Week', ({ growth_week }) => growth_week),
    growth('month', 'Month', ({ growth_month }) => growth_month),
  ];
}

function growth(
  name: string,
  heading: string,
  value: (forecast: ForecastRecord) => number | null,
): Column<ForecastRecord> {
  return {
    name,
    heading: `Growth, ${heading.toLowerCase()}`,
    value,
    cell: (forecast) => growthText(value(forecast)),
    align: 'right',
    isExtra: true,
  };
}

/** The likely time and its range, or why there is none. */
function FullIn({ forecast }: { readonly forecast: ForecastRecord }) {
  const { state, days_likely: likely, note } = forecast;
  if (state === 'full')
    return (
      <Text size="sm" fw={600}>
        Full now
      </Text>
    );
  if (likely === null)
    return (
      <Text size="sm" c="dimmed" className="sentence">
        {note ?? WITHOUT_DAYS[state] ?? 'Does not fill up'}
      </Text>
    );
  const range = rangeText(forecast);
  return (
    <>
      <Text size="sm" fw={600}>
        {likely > FAR_DAYS ? 'More than 10 years' : daysText(likely)}
      </Text>
      <Text size="xs" c="dimmed" className="sentence">
        {likely <= FAR_DAYS && `around ${localDay(new Date(Date.now() + likely * DAY_MS))}`}
        {range !== undefined && `, ${range}`}
      </Text>
    </>
  );
}

const WITHOUT_DAYS: Readonly<Record<string, string>> = {
  steady: 'Its use stands still',
  shrinking: 'Its use shrinks',
};

function rangeText({ days_low: low, days_likely: likely, days_high: high }: ForecastRecord): string | undefined {
  if (low === null || likely === null || likely > FAR_DAYS) return undefined;
  if (high === null || high > FAR_DAYS) return `${daysText(low)} at the earliest`;
  const [from, to] = [count(rounded(low)), count(rounded(high))];
  return from === to ? undefined : `between ${from} and ${to} days`;
}

function daysText(days: number): string {
  if (days < 1) return `${Math.max(1, Math.round(days * 24))} h`;
  const shown = rounded(days);
  return shown === 1 ? '1 day' : `${count(shown)} days`;
}

function rounded(days: number): number {
  return days < 10 ? Math.round(days * 10) / 10 : Math.round(days);
}

function growthText(value: number | null): string {
  if (value === null) return '–';
  if (value === 0) return '0';
  return `${value > 0 ? '+' : '−'}${bytes(Math.abs(value))}`;
}
