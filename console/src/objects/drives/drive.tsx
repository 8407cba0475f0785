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
          <Section title="Facts">
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
      What was on it is mended from the others. Add a drive to{' '}
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
          ['Partitions that lack a piece', count(drive.partition_count_degraded)],
          ['Partitions that cannot lose another', count(drive.partition_count_critical)],
          ['UUID', drive.disk_uuid],
          ['Since', <Time key="since" at={drive.created_at} />],
        ]}
      />
    </Stack>
  );
}
