import { Group, Select } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { array } from '../../api/array.ts';
import type { Op } from '../../api/operations.ts';
import { usePlace } from '../../api/places.tsx';
import { readOptions, useRead } from '../../api/queries.ts';
import { useAddressText } from '../../app/base.ts';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import type { Pool } from '../records.ts';
import { useVolumes } from '../volumes/all.ts';
import { Figures, Performance, useInterval } from './figures.tsx';
import { sumOf } from './points.ts';

/** Of a chart that has the page to itself. */
const HEIGHT = 300;

const OPERATIONS: Readonly<Record<string, Op>> = {
  pool: array.pools.performance,
  raidGroup: array.raidGroups.performance,
  drive: array.drives.performance,
  volume: array.volumes.performance,
  server: array.servers.performance,
};

const KINDS = [
  { value: 'array', label: 'The whole array' },
  { value: 'pool', label: 'A pool' },
  { value: 'raidGroup', label: 'A RAID group' },
  { value: 'drive', label: 'A drive' },
  { value: 'volume', label: 'A volume or share' },
  { value: 'server', label: 'A server' },
];

interface Named {
  readonly name: string;
  readonly display_name: string;
}

export default function PerformancePage() {
  const [of, setOf] = useAddressText('of');
  const kind = OPERATIONS[of] ? of : 'array';
  const [id, setId] = useAddressText('id');
  const named = useNamed(kind);
  const present = named.some(({ name }) => name === id) ? id : (named[0]?.name ?? '');
  const op = OPERATIONS[kind];
  return (
    <>
      <PageHead title="Performance" about="What is read and written, and how long it takes.">
        <Group gap="xs">
          <Select
            aria-label="Of what"
            data={KINDS}
            value={kind}
            onChange={(value) => setOf(value ?? '')}
            allowDeselect={false}
            w={200}
          />
          {op && named.length > 0 && (
            <Select
              aria-label="Which"
              data={named.map(({ name, display_name }) => ({ value: name, label: display_name }))}
              value={present}
              onChange={(value) => setId(value ?? '')}
              searchable
              limit={200}
              allowDeselect={false}
              w={240}
            />
          )}
        </Group>
      </PageHead>
      {kind === 'array' && <WholeArray />}
      {op && present === '' && <Empty title="There is none of these yet." />}
      {op && present !== '' && (
        <Section title={named.find(({ name }) => name === present)?.display_name ?? present}>
          <Performance op={op} id={present} height={HEIGHT} />
        </Section>
      )}
    </>
  );
}

/** What the second choice offers. */
function useNamed(kind: string): readonly Named[] {
  const pools = useRead(array.pools.list, {}, { enabled: kind === 'pool' }).data?.pools;
  const groups = useRead(array.raidGroups.list, {}, { enabled: kind === 'raidGroup' }).data?.raid_groups;
  const drives = useRead(array.drives.list, {}, { enabled: kind === 'drive' }).data?.disks;
  const servers = useRead(array.servers.list, {}, { enabled: kind === 'server' }).data?.servers;
  const volumes = useVolumes({ enabled: kind === 'volume' }).data;
  return { pool: pools, raidGroup: groups, drive: drives, server: servers, volume: volumes }[kind] ?? [];
}

/** All that servers read and write goes through pools: their sum is the array. */
function WholeArray() {
  const reading = useRead(array.pools.list, {});
  return (
    <Section title="The whole array">
      <Reading of={reading}>
        {({ pools }) => (pools.length === 0 ? <Empty title="There are no pools yet." /> : <SumOfPools pools={pools} />)}
      </Reading>
    </Section>
  );
}

function SumOfPools({ pools }: { readonly pools: readonly Pool[] }) {
  const place = usePlace('array');
  const { seconds, everyMs, control } = useInterval();
  const answers = useQueries({
    queries: pools.map(({ name }) => ({
      ...readOptions(array.pools.performance, place, { id: name, interval: seconds }),
      refetchInterval: everyMs,
    })),
  });
  const series = answers.map(({ data }) => data?.usages);
  const points = useMemo(() => sumOf(series.filter((one) => one !== undefined)), series);
  return <Figures points={points} control={control} height={HEIGHT} />;
}
