import { Button, Group, SegmentedControl, SimpleGrid, Table, Title } from '@mantine/core';
import { useState } from 'react';
import { objects } from '../../api/objects.ts';
import type { Op } from '../../api/operations.ts';
import { useRead } from '../../api/queries.ts';
import { useAddressText } from '../../app/base.ts';
import { useMay } from '../../app/identity.tsx';
import { Chart } from '../../parts/chart.tsx';
import { exactTime } from '../../parts/format.ts';
import { Failed, Loading } from '../../parts/messages.tsx';
import { FIGURES, linesOf, rowsOf, type Measure } from './points.ts';

/** What metering can be asked of. */
export type Metered = 'accounts' | 'users' | 'drives' | 'virtualControllers' | 'loadBalancerGroups' | 'policies';

const INTERVALS = [
  { value: '10', label: '10 s' },
  { value: '60', label: '1 min' },
  { value: '600', label: '10 min' },
  { value: '3600', label: '1 h' },
  { value: '86400', label: '1 day' },
];
const DEFAULT_SECONDS = '10';
const POINTS = 60;
const EVERY_MS_MIN = 5_000;
const EVERY_MS_MAX = 60_000;

interface MeteringProps {
  readonly group: Metered;
  readonly id: string;
  /** The virtual controller that serves it, of a drive. */
  readonly controller?: string;
}

/** The requests of one thing as charts that move, and on demand as a table. */
export function Metering(props: MeteringProps) {
  const may = useMay();
  if (!may(objects[props.group].iops)) return null;
  return <Charts {...props} />;
}

function Charts({ group, id, controller }: MeteringProps) {
  const [text, setText] = useAddressText('interval');
  const value = INTERVALS.some((one) => one.value === text) ? text : DEFAULT_SECONDS;
  const [isTable, setTable] = useState(false);
  const input = {
    id,
    service: group === 'drives' ? 'disk' : 'proxy',
    ...((group === 'accounts' || group === 'users') && { subserver: 'object' }),
    ...(controller !== undefined && { vc: controller }),
    interval: Number(value),
    count: POINTS,
  };
  const everyMs = Math.min(EVERY_MS_MAX, Math.max(EVERY_MS_MIN, Number(value) * 1000));
  const readings = {
    iops: useRead(objects[group].iops as Op, input as never, { everyMs }),
    throughput: useRead(objects[group].throughput as Op, input as never, { everyMs }),
    latency: useRead(objects[group].latency as Op, input as never, { everyMs }),
  };
  const failed = Object.values(readings).find(({ isError }) => isError);
  const pointsOf = (measure: Measure) =>
    (readings[measure].data as { readonly objects: readonly Readonly<Record<string, number>>[] } | undefined)
      ?.objects ?? [];
  return (
    <>
      <Group justify="space-between" mb="sm">
        <SegmentedControl
          size="xs"
          data={INTERVALS}
          value={value}
          onChange={setText}
          aria-label="Time that a point covers"
        />
        <Button size="xs" variant="default" onClick={() => setTable(!isTable)} aria-expanded={isTable}>
          {isTable ? 'As charts' : 'As a table'}
        </Button>
      </Group>
      {failed && <Failed error={failed.error} retry={() => void failed.refetch()} />}
      {!failed && readings.iops.isPending && <Loading />}
      {!failed && readings.iops.data !== undefined && isTable && (
        <FigureTable
          rows={rowsOf({ iops: pointsOf('iops'), throughput: pointsOf('throughput'), latency: pointsOf('latency') })}
        />
      )}
      {!failed && readings.iops.data !== undefined && !isTable && (
        <SimpleGrid cols={{ base: 1, lg: 3 }}>
          {FIGURES.map(({ measure, title, format }) => (
            <div key={measure}>
              <Title order={3} size="h6">
                {title}
              </Title>
              <Chart
                title={title}
                times={pointsOf(measure).map((point) => point['time'] ?? 0)}
                lines={linesOf(measure, pointsOf(measure))}
                format={format}
                isBytes={measure === 'throughput'}
                height={160}
              />
            </div>
          ))}
        </SimpleGrid>
      )}
    </>
  );
}

function FigureTable({ rows }: { readonly rows: ReturnType<typeof rowsOf> }) {
  const formats = FIGURES.flatMap(({ format }) => [format, format, format]);
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label="Measurements">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Until</Table.Th>
            {FIGURES.map(({ title }) => (
              <Table.Th key={title} colSpan={3}>
                {title}: read, written, deleted
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ time, values }) => (
            <Table.Tr key={time}>
              <Table.Td>{exactTime(new Date(time * 1000))}</Table.Td>
              {values.map((value, index) => (
                <Table.Td key={index}>{value === null ? '–' : formats[index]?.(value)}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
