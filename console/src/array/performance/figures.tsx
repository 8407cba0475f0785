import { Button, Group, SegmentedControl, SimpleGrid, Table, Title } from '@mantine/core';
import { useState } from 'react';
import type { Op } from '../../api/operations.ts';
import { useRead } from '../../api/queries.ts';
import { useAddressText } from '../../app/base.ts';
import { Chart } from '../../parts/chart.tsx';
import { secondTime } from '../../parts/format.ts';
import { Reading } from '../../parts/reading.tsx';
import { FIGURES, linesOf, type IoPoint } from './points.ts';

const INTERVALS = [
  { value: '1', label: '1 s' },
  { value: '10', label: '10 s' },
  { value: '60', label: '1 min' },
  { value: '600', label: '10 min' },
  { value: '3600', label: '1 h' },
  { value: '86400', label: '1 day' },
];
const DEFAULT_SECONDS = '10';
const ASK_EVERY_MS_MIN = 2000;
const ASK_EVERY_MS_MAX = 60_000;

/** How long between two measurements; kept in the address. */
export function useInterval() {
  const [text, set] = useAddressText('interval');
  const value = INTERVALS.some((one) => one.value === text) ? text : DEFAULT_SECONDS;
  const seconds = Number(value);
  const everyMs = Math.min(ASK_EVERY_MS_MAX, Math.max(ASK_EVERY_MS_MIN, seconds * 1000));
  const control = (
    <SegmentedControl
      size="xs"
      data={INTERVALS}
      value={value}
      onChange={set}
      aria-label="Time between two measurements"
    />
  );
  return { seconds, everyMs, control };
}

/** What one thing reads and writes: charts that move. */
export function Performance({ op, id, height }: { readonly op: Op; readonly id: string; readonly height?: number }) {
  const { seconds, everyMs, control } = useInterval();
  const reading = useRead(op, { id, interval: seconds }, { everyMs });
  return (
    <Reading of={reading}>
      {(answer) => <Figures points={(answer as { usages: IoPoint[] }).usages} control={control} height={height} />}
    </Reading>
  );
}

/** The last measurements as charts, and on demand as a table. */
export function Figures({
  points,
  control,
  height = 160,
}: {
  readonly points: readonly IoPoint[];
  readonly control: React.ReactNode;
  readonly height?: number | undefined;
}) {
  const [isTable, setTable] = useState(false);
  const times = points.map(({ point }) => point);
  return (
    <>
      <Group justify="space-between" mb="sm">
        {control}
        <Button size="xs" variant="default" onClick={() => setTable(!isTable)} aria-expanded={isTable}>
          {isTable ? 'As charts' : 'As a table'}
        </Button>
      </Group>
      {isTable ? (
        <FigureTable points={points} />
      ) : (
        <SimpleGrid cols={{ base: 1, lg: 3 }}>
          {FIGURES.map((figure) => (
            <div key={figure.title}>
              <Title order={3} size="h6">
                {figure.title}
              </Title>
              <Chart
                title={figure.title}
                times={times}
                lines={linesOf(figure, points)}
                format={figure.format}
                isBytes={figure.isBytes === true}
                height={height}
              />
            </div>
          ))}
        </SimpleGrid>
      )}
    </>
  );
}

function FigureTable({ points }: { readonly points: readonly IoPoint[] }) {
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label="Measurements">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Time</Table.Th>
            {FIGURES.map(({ title }) => (
              <Table.Th key={title} colSpan={2}>
                {title}: read, written
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {points.toReversed().map((at) => (
            <Table.Tr key={at.point}>
              <Table.Td>{secondTime(new Date(at.point * 1000))}</Table.Td>
              {FIGURES.flatMap(({ title, read, write, format }) => [
                <Table.Td key={`${title} r`}>{format(read(at))}</Table.Td>,
                <Table.Td key={`${title} w`}>{format(write(at))}</Table.Td>,
              ])}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
