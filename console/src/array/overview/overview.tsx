import { Alert, Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { gigabytes } from '../../parts/format.ts';
import { IconCheck } from '../../parts/icons.tsx';
import { Failed, Loading, PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Fill, Working } from '../../parts/small.tsx';
import { EventList } from '../administration/event-list.tsx';
import { NewPool } from '../pools/new-pool.tsx';
import { isFree, isOut, poolUsed, type Drive } from '../records.ts';
import { NewRaidGroup } from '../raid-groups/new-raid-group.tsx';
import { NewServer } from '../servers/new-server.tsx';
import { useVolumes } from '../volumes/all.ts';
import { NewVolume } from '../volumes/new-volume.tsx';
import { overcommittedWords } from '../pools/room.ts';
import { FillsUpSection } from './fills-up.tsx';
import { Picture } from './picture.tsx';
import { concernsOf, workOf, type ArrayFacts, type Concern, type Work } from './standing.ts';

const CONCERNS_MAX = 12;
const EVENTS = 8;

export default function Overview() {
  const readings = {
    drives: useRead(array.drives.list, {}),
    groups: useRead(array.raidGroups.list, {}),
    pools: useRead(array.pools.list, {}),
    volumes: useVolumes(),
    mirrors: useRead(array.mirrorJobs.list, {}),
    controllers: useRead(array.controllers.list, {}),
  };
  const { drives, groups, pools, volumes, mirrors, controllers } = readings;
  const failed = Object.values(readings).find(({ isError }) => isError);
  if (failed) return <Failed error={failed.error} retry={() => void failed.refetch()} />;
  if (!drives.data || !groups.data || !pools.data || !volumes.data || !mirrors.data || !controllers.data)
    return <Loading />;
  return (
    <Standing
      facts={{
        drives: drives.data.disks,
        groups: groups.data.raid_groups,
        pools: pools.data.pools,
        volumes: volumes.data,
        mirrors: mirrors.data.array_mirror_jobs,
        controllers: controllers.data.vcontrollers,
      }}
    />
  );
}

function Standing({ facts }: { readonly facts: ArrayFacts }) {
  const work = workOf(facts);
  return (
    <>
      <PageHead title="Overview">
        <NextStep facts={facts} />
      </PageHead>
      <Capacity facts={facts} />
      <Attention concerns={concernsOf(facts)} />
      {work.length > 0 && (
        <Section title="Work under way">
          <WorkList work={work} />
        </Section>
      )}
      <Section title="From drives to volumes">
        <Picture facts={facts} />
      </Section>
      {facts.pools.length > 0 && <FillsUpSection />}
      <Section title="Last events" tools={<PageLink to="/events">All events</PageLink>}>
        <EventList limit={EVENTS} />
      </Section>
    </>
  );
}

/** The step that is missing on the way from drives to a volume that is used. */
function NextStep({ facts: { groups, pools, volumes } }: { readonly facts: ArrayFacts }) {
  if (groups.length === 0) return <NewRaidGroup />;
  if (pools.length === 0) return <NewPool />;
  if (volumes.length > 0 && volumes.every(({ server_ext_names }) => server_ext_names === ''))
    return (
      <>
        <NewServer />
        <NewVolume />
      </>
    );
  return <NewVolume />;
}

function Capacity({ facts: { drives, groups, pools, volumes } }: { readonly facts: ArrayFacts }) {
  const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);
  const capacityOf = (some: readonly Drive[]) => sum(some.map(({ capacity }) => capacity));
  const raw = capacityOf(drives);
  const inGroups = capacityOf(drives.filter(({ usage }) => usage === 'In-use'));
  const out = capacityOf(drives.filter(isOut));
  const usable = sum(groups.map(({ capacity }) => capacity));
  const inPools = usable - sum(groups.map(({ available }) => available));
  const pooled = sum(pools.map(({ capacity }) => capacity));
  const used = sum(pools.map(poolUsed));
  const provisioned = sum(pools.map(({ provisioned_capacity }) => provisioned_capacity));
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} mb="md">
      <Figure
        title="Drives"
        to="/drives"
        value={`${drives.length}`}
        detail={`${gigabytes(raw)}, ${gigabytes(capacityOf(drives.filter(isFree)))} free${out > 0 ? `, ${gigabytes(out)} failed or absent` : ''}`}
      >
        <Fill used={inGroups} size={raw} label="In RAID groups" mayBeFull />
      </Figure>
      <Figure title="RAID groups" to="/raid-groups" value={`${groups.length}`} detail={`${gigabytes(usable)} usable`}>
        <Fill used={inPools} size={usable} label="In pools" mayBeFull />
      </Figure>
      <Figure
        title="Pools"
        to="/pools"
        value={`${pools.length}`}
        detail={`${gigabytes(used)} of ${gigabytes(pooled)} used`}
      >
        <Fill used={used} size={pooled} label="Used" />
      </Figure>
      <Figure
        title="Volumes and shares"
        to="/volumes"
        value={volumes.length.toLocaleString('en')}
        detail={`${gigabytes(provisioned)} provisioned${overcommittedWords(provisioned, pooled)}`}
      >
        <Fill used={provisioned} size={pooled} label="Provisioned, of pool capacity" mayBeFull />
      </Figure>
    </SimpleGrid>
  );
}

function Figure(props: {
  readonly title: string;
  readonly to: string;
  readonly value: string;
  readonly detail: string;
  readonly children: ReactNode;
}) {
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between" align="baseline">
        <PageLink to={props.to}>{props.title}</PageLink>
        <Text fw={700} size="xl">
          {props.value}
        </Text>
      </Group>
      <Text size="xs" c="dimmed" mb={6}>
        {props.detail}
      </Text>
      {props.children}
    </Card>
  );
}

function Attention({ concerns }: { readonly concerns: readonly Concern[] }) {
  if (concerns.length === 0)
    return <Alert color="teal" variant="light" icon={<IconCheck />} mb="md" title="Nothing needs attention." />;
  const isSevere = concerns.some((one) => one.isSevere);
  return (
    <Alert
      color={isSevere ? 'red' : 'yellow'}
      variant="light"
      mb="md"
      title={concerns.length === 1 ? 'One thing needs attention' : `${concerns.length} things need attention`}
    >
      <Stack gap={4}>
        {concerns.slice(0, CONCERNS_MAX).map(({ key, text, to }) => (
          <div key={key}>
            <PageLink to={to}>{text}</PageLink>
          </div>
        ))}
        {concerns.length > CONCERNS_MAX && <Text size="sm">and {concerns.length - CONCERNS_MAX} more</Text>}
      </Stack>
    </Alert>
  );
}

function WorkList({ work }: { readonly work: readonly Work[] }) {
  return (
    <Stack gap="sm">
      {work.slice(0, CONCERNS_MAX).map(({ key, text, to, progress }) => (
        <div key={key}>
          {progress === undefined ? <Text size="sm">{text}</Text> : <Working value={progress} label={text} />}
          <PageLink to={to}>Look at it</PageLink>
        </div>
      ))}
    </Stack>
  );
}
