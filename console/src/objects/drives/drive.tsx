import { Alert, Stack } from '@mantine/core';
import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useParam } from '../../app/base.ts';
import { count } from '../../parts/format.ts';
import { PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Facts, Fill, State, Time } from '../../parts/small.tsx';
import { Metering } from '../metering/figures.tsx';
import type { Drive } from '../records.ts';

export default function DrivePage() {
  const reading = useRead(objects.drives.get, { name: useParam('driveName') });
  return (
    <Reading of={reading}>
      {({ disk }) => (
        <>
          <PageHead title={disk.display_name} about="Drive" />
          <Advice drive={disk} />
          <Section title="Details">
            <DriveFacts drive={disk} />
          </Section>
          {disk.vc !== null && (
            <Section title="Requests">
              <Metering group="drives" id={disk.name} controller={disk.vc} />
            </Section>
          )}
        </>
      )}
    </Reading>
  );
}

/** What to do about a drive that is gone. */
function Advice({ drive: { status, storage_policy: policy } }: { readonly drive: Drive }) {
  if (status === 'Normal' || policy === null) return null;
  return (
    <Alert color="red" variant="light" mb="md" title={`The drive is ${status.toLowerCase()}.`}>
      Its data is repaired from the other drives. Add a drive to{' '}
      <PageLink to={`/policies/${policy}`}>its storage policy</PageLink>, then remove this one there.
    </Alert>
  );
}

function DriveFacts({ drive }: { readonly drive: Drive }) {
  const { storage_policy: policy } = drive;
  return (
    <Stack>
      <Fill used={drive.used_capacity} size={drive.capacity} />
      <Facts
        of={[
          ['State', <State key="state" of={drive.status} />],
          [
            'Storage policy',
            policy === null ? null : (
              <PageLink key="policy" to={`/policies/${policy}`}>
                {policy}
              </PageLink>
            ),
          ],
          ['Type', drive.disk_type],
          ['Node', drive.storage_node],
          ['Zone', drive.allocation_zone_display_name ?? drive.allocation_zone],
          ['Controller', drive.vc],
          ['Partitions with a missing copy or fragment', count(drive.partition_count_degraded)],
          ['Partitions without redundancy', count(drive.partition_count_critical)],
          ['UUID', drive.disk_uuid],
          ['Added', <Time key="since" at={drive.created_at} />],
        ]}
      />
    </Stack>
  );
}
