import { Button, Group, Text } from '@mantine/core';
import { DateTimeInput } from './date-time.tsx';
import { useState } from 'react';
import { array } from '../../api/array.ts';
import { usePlace } from '../../api/places.tsx';
import { useRead } from '../../api/queries.ts';
import { IconDownload } from '../../parts/icons.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Facts, Time } from '../../parts/small.tsx';
import { useVolumes } from '../volumes/all.ts';

/** Who read and changed files of audited shares, as a zip. */
export default function Audit() {
  const reading = useRead(array.auditLogs.getTimeRange, {});
  const place = usePlace('array');
  const shares = useVolumes().data?.filter(({ data_type }) => data_type === 'File-System') ?? [];
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const asked = new URLSearchParams({ ...(from !== '' && { from }), ...(to !== '' && { to }) }).toString();
  return (
    <>
      <PageHead
        title="Audit log"
        about="Who read and changed files. It is turned on for each share, among the options of its page."
      />
      <Reading of={reading}>
        {({ from_date_time: first, to_date_time: last }) =>
          first === null ? (
            <Empty title="Nothing is logged yet.">
              {shares.length === 0
                ? 'There are no shares yet.'
                : 'Open a share, choose Options and turn its audit on; what is read and changed from then on is here.'}
            </Empty>
          ) : (
            <Section title="Download">
              <Facts
                of={[
                  ['From', <Time key="from" at={first} />],
                  ['To', <Time key="to" at={last} />],
                ]}
              />
              <Group align="flex-end" mt="md">
                <DateTimeInput label="Leave out what is older" value={from} onChange={setFrom} />
                <DateTimeInput label="Leave out what is newer" value={to} onChange={setTo} />
                <Button
                  component="a"
                  href={`${place.base}/api/audited_volumes/download${asked === '' ? '' : `?${asked}`}`}
                  download
                  leftSection={<IconDownload />}
                >
                  Download the zip
                </Button>
              </Group>
              <Text size="xs" c="dimmed" mt="xs">
                Times in your zone; without them, everything is in it.
              </Text>
            </Section>
          )
        }
      </Reading>
    </>
  );
}
