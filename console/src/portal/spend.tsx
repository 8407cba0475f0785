import { Anchor, Grid, Group, Progress, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Reply } from '../api/operations.ts';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { Chart } from '../parts/chart.tsx';
import { money, moneyMark, percent, timeOf } from '../parts/format.ts';
import { Empty } from '../parts/messages.tsx';
import { Section } from '../parts/page-link.tsx';
import { Reading } from '../parts/reading.tsx';
import { shownSum } from '../parts/sums.ts';
import { DataTable, type Column } from '../parts/table.tsx';

type Summary = Reply<typeof portal.billing.summary.endpoint>['data'];
type SpendOfArray = Summary['arrays'][number];

const KINDS: Readonly<Record<string, string>> = {
  engine: 'Engines',
  app_engine: 'App engines',
  drive: 'Drives',
  cache_gb: 'Cache',
  encryption: 'Encryption',
  public_ip: 'Public addresses',
  proxy: 'Proxy controllers',
  public_objs: 'Public object services',
};

export interface BillWindow {
  readonly start_datetime: string;
  readonly end_datetime: string;
}

/** Spend by day or month, by kind of item and by array. */
export function Spend({ window, per }: { readonly window: BillWindow; readonly per: 'day' | 'month' }) {
  const reading = useRead(portal.billing.summary, { ...window, per });
  return (
    <Reading of={reading}>
      {({ data }) =>
        data.arrays.length === 0 ? (
          <Empty title="Nothing was used in this time.">What an array uses is billed from its first second on.</Empty>
        ) : (
          <Sums summary={data} per={per} />
        )
      }
    </Reading>
  );
}

function Sums({ summary, per }: { readonly summary: Summary; readonly per: 'day' | 'month' }) {
  const kinds = Object.entries(summary.kinds).toSorted(([, a], [, b]) => Number(b) - Number(a));
  const shown = shownSum(
    kinds.map(([, amount]) => amount),
    summary.amount,
  );
  return (
    <>
      <Grid>
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Section title={per === 'day' ? 'By day' : 'By month'}>
            <Periods summary={summary} kinds={kinds.map(([kind]) => kind)} />
          </Section>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Section title={`Total: ${shown.total}`}>
            <Kinds kinds={kinds} texts={shown.parts} />
          </Section>
        </Grid.Col>
      </Grid>
      <Section title="By array">
        <DataTable
          label="Spend by array"
          rows={summary.arrays}
          columns={columnsOf(summary)}
          rowKey={({ array_id: id }) => String(id)}
          empty={null}
        />
      </Section>
    </>
  );
}

function Periods({ summary, kinds }: { readonly summary: Summary; readonly kinds: readonly string[] }) {
  const times = summary.periods.map(({ from }) => (timeOf(from)?.getTime() ?? 0) / 1000);
  const lines = kinds.map((kind) => ({
    label: KINDS[kind] ?? kind,
    values: summary.periods.map((period) => Number(period.kinds[kind] ?? 0)),
  }));
  return (
    <Chart
      title="Spend"
      times={times}
      lines={lines}
      format={(value) => money(value)}
      formatMark={moneyMark}
      height={240}
      isBars
    />
  );
}

interface KindsProps {
  readonly kinds: readonly (readonly [string, string])[];
  readonly texts: readonly string[];
}

function Kinds({ kinds, texts }: KindsProps) {
  const whole = kinds.reduce((sum, [, amount]) => sum + Number(amount), 0);
  return (
    <Table layout="fixed">
      <Table.Tbody>
        {kinds.map(([kind, amount], index) => (
          <Table.Tr key={kind}>
            <Table.Td>
              <Group justify="space-between" gap="xs" wrap="nowrap">
                <Text size="sm">{KINDS[kind] ?? kind}</Text>
                <Text size="sm">{texts[index]}</Text>
              </Group>
              <Progress value={percent(Number(amount), whole)} size="xs" aria-label={KINDS[kind] ?? kind} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** With the amounts of arrays as they add up to the total. */
function columnsOf({ arrays, amount: total }: Summary): readonly Column<SpendOfArray>[] {
  const { parts } = shownSum(
    arrays.map(({ amount }) => amount),
    total,
  );
  const texts = new Map(arrays.map(({ array_id: id }, index) => [id, parts[index]]));
  return [
    ...columns,
    {
      name: 'amount',
      heading: 'Amount',
      align: 'right',
      value: ({ amount }) => Number(amount),
      cell: ({ array_id: id }) => texts.get(id),
    },
  ];
}

const columns: readonly Column<SpendOfArray>[] = [
  {
    name: 'array',
    heading: 'Array',
    isLong: true,
    value: ({ name }) => name,
    cell: ({ array_id: id, name, deleted }) =>
      deleted ? (
        `${name} (deleted)`
      ) : (
        <Anchor component={Link} to={`/arrays/${id}`} size="sm">
          {name}
        </Anchor>
      ),
  },
  { name: 'user', heading: 'User', value: ({ user }) => user, cell: ({ user }) => user, isExtra: true },
  {
    name: 'provider',
    heading: 'Provider',
    value: ({ provider }) => provider,
    cell: ({ provider }) => provider,
    isExtra: true,
  },
  {
    name: 'most',
    heading: 'Largest charge',
    isExtra: true,
    cell: ({ kinds }) => mostOf(kinds),
  },
];

function mostOf(kinds: Readonly<Record<string, string>>): string {
  const [most] = Object.entries(kinds).toSorted(([, a], [, b]) => Number(b) - Number(a));
  return most ? (KINDS[most[0]] ?? most[0]) : '–';
}
